/**
 * The panel in a cell's output, as an anywidget module. In JupyterLab it takes the page's own connection over the
 * bridge, so that it answers while the kernel is busy; everywhere else the kernel carries it.
 */
import { effect } from '@preact/signals';
import { adopted } from './adopted';
import type { Host } from './host';
import { mountPanel } from './panel';
import type { View } from './store/types';
import { findBridge } from './transports/bridge';
import { CommTransport, type CommModel } from './transports/comm';

/** What anywidget hands over; `_view`, `_chat_id` and `_height` are set in Python. */
export interface WidgetModel extends CommModel {
  get(trait: string): unknown;
  set(trait: string, value: unknown): void;
  save_changes(): void;
}

export interface RenderProps {
  model: WidgetModel;
  el: HTMLElement;
}

const VIEWS: readonly View[] = ['chat', 'chats', 'settings'];

function render({ model, el }: RenderProps): () => void {
  const bridge = findBridge();
  const transport = bridge ? adopted(bridge.connect()) : new CommTransport(model);
  const node = el.appendChild(document.createElement('div'));
  node.classList.add('cc-cell');
  const height = cssHeight(model.get('_height'));
  if (height) {
    node.style.setProperty('--cc-cell-height', height);
  }
  const panel = mountPanel(node, transport, bridge?.host ?? bareHost(), {
    view: VIEWS.find(view => view === model.get('_view')),
    chatId: text(model.get('_chat_id'))
  });
  // Shown again, the output shows the chat that it showed last.
  const unfollow = effect(() => {
    const chatId = panel.store.chat.id.value;
    if (chatId && chatId !== model.get('_chat_id')) {
      model.set('_chat_id', chatId);
      model.save_changes();
    }
  });
  return () => {
    unfollow();
    panel.dispose();
    node.remove();
  };
}

/** A page of which nothing is known but its language. */
const bareHost = (): Host => ({ kind: 'cell', language: document.documentElement.lang || navigator.language });

const text = (value: unknown): string | undefined => (typeof value === 'string' && value ? value : undefined);

/** Pixels as a number, or any CSS length; without one, the stylesheet decides. */
const cssHeight = (value: unknown): string => (typeof value === 'number' ? `${value}px` : (text(value) ?? ''));

export default { render };
