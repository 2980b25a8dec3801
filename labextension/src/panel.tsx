/** One panel: the store over a transport, shown in a node. The same for sidebar, tab and cell output. */
import { render } from 'preact';
import type { Host } from './host';
import { setLanguage } from './i18n';
import { createStore } from './store/store';
import type { Store, View } from './store/types';
import type { Transport } from './transport';
import { Panel } from './views/panel';

export interface PanelOptions {
  view?: View;
  chatId?: string;
}

export interface MountedPanel {
  readonly store: Store;
  dispose(): void;
}

/** Show a panel in `node`; the transport belongs to it from now on. */
export function mountPanel(
  node: HTMLElement,
  transport: Transport,
  host: Host,
  options: PanelOptions = {}
): MountedPanel {
  setLanguage(host.language);
  const store = createStore(transport, options);
  node.classList.add('cc-panel');
  render(<Panel store={store} host={host} />, node);
  return {
    store,
    dispose() {
      render(null, node);
      store.dispose();
    }
  };
}
