/** The socket to this page's own server, with the server's prefix ("/user/a@b/") and the page's credentials. */
import { URLExt } from '@jupyterlab/coreutils';
import { ServerConnection } from '@jupyterlab/services';
import type { Transport } from '../transport';
import { SocketTransport } from '../transports/socket';

export function connect(settings: ServerConnection.ISettings): Transport {
  const socket = URLExt.join(settings.wsUrl, 'cashcode', 'ws');
  return new SocketTransport({
    // A browser can give a socket no header, so the token stands in its address, as JupyterLab's own sockets have it.
    wsUrl: settings.token ? `${socket}?token=${encodeURIComponent(settings.token)}` : socket,
    apiUrl: URLExt.join(settings.baseUrl, 'cashcode', 'api'),
    fetch: (url: string, init: RequestInit) => ServerConnection.makeRequest(url, init, settings),
    WebSocket: settings.WebSocket
  });
}
