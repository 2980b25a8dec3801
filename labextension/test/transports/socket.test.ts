// @vitest-environment node
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createRequire } from 'node:module';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ApiError } from '../../src/transport';
import { SocketTransport } from '../../src/transports/socket';

/** The part of `ws` that is used; jsdom brings the package, without types. */
interface Peer {
  send(text: string): void;
  close(code?: number): void;
  terminate(): void;
  on(event: 'message', hear: (data: unknown) => void): void;
}
interface Peers {
  on(event: 'connection', hear: (peer: Peer) => void): void;
  close(): void;
}
const ws = createRequire(import.meta.url)('ws') as {
  WebSocketServer: new (options: { server: Server; path: string }) => Peers;
  WebSocket: typeof WebSocket;
};

let http: Server;
let peers: Peers;
let connections: Peer[];
let transport: SocketTransport;

beforeEach(async () => {
  connections = [];
  http = createServer((request, response) => {
    const path = request.url ?? '';
    if (response.headersSent) {
      return; // a test answered it
    }
    const answers: Record<string, [number, string]> = {
      '/user/a@b/cashcode/api/ok': [200, '{"a":1}'],
      '/user/a@b/cashcode/api/none': [204, ''],
      '/user/a@b/cashcode/api/blank': [200, ''],
      '/user/a@b/cashcode/api/html': [502, '<html>Bad gateway</html>'],
      '/user/a@b/cashcode/api/page': [200, '<html>Log in</html>'],
      '/user/a@b/cashcode/api/login': [403, '<html>Forbidden</html>'],
      '/user/a@b/cashcode/api/conflict': [
        409,
        '{"code":"conflict","detail":"Stale.","request_id":"r","current_hash":"h"}'
      ]
    };
    const known = answers[path];
    if (known) {
      response.writeHead(known[0]).end(known[1]);
    } else if (path.endsWith('/cut')) {
      response.writeHead(200, { 'Content-Length': '100' });
      response.write('{');
      setImmediate(() => response.destroy());
    } else if (!path.endsWith('/slow')) {
      response.writeHead(404).end();
    }
  });
  peers = new ws.WebSocketServer({ server: http, path: '/user/a@b/cashcode/ws' });
  peers.on('connection', peer => connections.push(peer));
  await new Promise<void>(resolve => http.listen(0, '127.0.0.1', resolve));
  transport = make('/user/a@b/cashcode/ws');
});

afterEach(async () => {
  transport.dispose();
  peers.close();
  http.closeAllConnections();
  await new Promise(resolve => http.close(resolve));
});

function make(path: string): SocketTransport {
  const host = `127.0.0.1:${(http.address() as AddressInfo).port}`;
  return new SocketTransport({
    wsUrl: () => `ws://${host}${path}`,
    apiUrl: `http://${host}/user/a@b/cashcode/api`,
    fetch: (url, init) => fetch(url, init),
    WebSocket: ws.WebSocket
  });
}

const opened = (): Promise<void> => vi.waitFor(() => expect(transport.state.value).toBe('open'), 5000);

describe('the socket', () => {
  it('carries actions and events', async () => {
    await opened();
    const heard: unknown[] = [];
    transport.onEvent(event => heard.push(event));
    const got = new Promise(resolve => connections[0].on('message', data => resolve(String(data))));
    expect(transport.send({ type: 'attach', chat_id: 'c' })).toBe(true);
    expect(await got).toBe('{"type":"attach","chat_id":"c"}');
    for (const frame of ['no json', '[]', '{"event":"pong"}', '{"event":"stop_ack","chat_id":"c"}']) {
      connections[0].send(frame);
    }
    await vi.waitFor(() => expect(heard).toEqual([{ event: 'stop_ack', chat_id: 'c' }]));
  });

  it.each([1006, 1001, 1013])('comes back after a close with %i', async code => {
    await opened();
    const states: string[] = [];
    transport.state.subscribe(state => states.push(state));
    if (code === 1006) {
      connections[0].terminate();
    } else {
      connections[0].close(code);
    }
    await vi.waitFor(() => expect(states).toEqual(['open', 'lost', 'open']), 5000);
    expect(connections).toHaveLength(2);
  });

  it('takes nothing while there is no connection', () => {
    expect(transport.state.value).toBe('connecting');
    expect(transport.send({ type: 'ping' })).toBe(false);
  });

  it('says so when the person is signed out', async () => {
    transport.dispose();
    http.prependListener('request', (request, response) => {
      if (request.url?.endsWith('/health')) {
        response.writeHead(403).end('<html></html>');
      }
    });
    transport = make('/elsewhere');
    await vi.waitFor(() => expect(transport.problem.value).toMatch(/signed out/), 5000);
    expect(transport.state.value).toBe('connecting');
  });

  it('stays away after it was disposed of', async () => {
    await opened();
    transport.dispose();
    await vi.waitFor(() => expect(transport.state.value).toBe('lost'));
    transport.reconnect();
    expect(transport.send({ type: 'ping' })).toBe(false);
    expect(connections).toHaveLength(1);
  });
});

describe('a request', () => {
  it('gives the answer, also an empty one', async () => {
    expect(await transport.request('GET', 'ok')).toEqual({ a: 1 });
    expect(await transport.request('DELETE', 'none')).toBeUndefined();
  });

  it.each([
    ['html', 'bad_answer', 502],
    ['page', 'bad_answer', 200],
    ['blank', 'bad_answer', 200],
    ['login', 'bad_answer', 403],
    ['missing', 'bad_answer', 404],
    ['conflict', 'conflict', 409],
    ['cut', 'unreachable', 0]
  ])('rejects %s as an ApiError', async (path, code, status) => {
    const error: unknown = await transport.request('GET', path).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ code, status });
    expect((error as ApiError).detail).not.toMatch(/[<{]/);
  });

  it('hands over what else an error says', async () => {
    await expect(transport.request('PUT', 'conflict', {})).rejects.toMatchObject({ facts: { current_hash: 'h' } });
  });

  it('can be cancelled', async () => {
    const ending = new AbortController();
    const asked = transport.request('GET', 'slow', undefined, ending.signal);
    ending.abort();
    await expect(asked).rejects.toMatchObject({ code: 'aborted', status: 0 });
  });

  it('to a server that is gone is unreachable', async () => {
    const gone = new SocketTransport({
      wsUrl: 'ws://127.0.0.1:9/',
      apiUrl: 'http://127.0.0.1:9',
      fetch: (url, init) => fetch(url, init),
      WebSocket: ws.WebSocket
    });
    await expect(gone.request('GET', 'x')).rejects.toMatchObject({ code: 'unreachable', status: 0 });
    gone.dispose();
  });
});
