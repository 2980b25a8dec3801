/** Everything that one panel holds, over one transport, which belongs to it. */
import { batch, signal, type ReadonlySignal, type Signal } from '@preact/signals';
import type { AnyEvent } from '../protocol';
import type { ConnectionState, Transport } from '../transport';
import { OpenChat } from './chat';
import { ChatList } from './chats';
import { ModelList } from './models';
import { randomText } from './outbox';
import * as remembered from './remembered';
import { SelectionLists } from './selections';
import { ServerSettings } from './settings';
import type { Chat, Store, View } from './types';

/** A new chat gets its name from the server; without an answer it makes one up itself. */
const NEW_CHAT_MS = 3000;

export interface StoreOptions {
  view?: View;
  /** Show this chat; without it the last one of this browser, or a new one. */
  chatId?: string;
}

export function createStore(transport: Transport, options: StoreOptions = {}): Store {
  return new PanelStore(transport, options);
}

class PanelStore implements Store {
  readonly connection: ReadonlySignal<ConnectionState>;
  readonly connectionProblem: ReadonlySignal<string | undefined>;
  readonly view: Signal<View>;
  readonly chats: ChatList;
  readonly settings: ServerSettings;
  readonly models: ModelList;
  readonly selections: SelectionLists;

  private readonly open: OpenChat;
  private readonly ends: (() => void)[];
  /** The next `attached` of a chat that we do not show answers this. */
  private expected: 'new' | 'retry' | undefined;
  private patience: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly transport: Transport,
    private readonly options: StoreOptions
  ) {
    this.connection = transport.state;
    this.connectionProblem = transport.problem;
    this.view = signal<View>(options.view ?? 'chat');
    this.open = new OpenChat(transport, () => this.expect('retry'));
    this.chats = new ChatList(
      transport,
      (chatId, title) => this.renamed(chatId, title),
      chatId => this.removed(chatId)
    );
    this.settings = new ServerSettings(transport, () => void this.models.refresh());
    this.models = new ModelList(transport, this.settings.fallback);
    this.selections = new SelectionLists(transport);
    this.ends = [transport.onEvent(event => this.hear(event)), this.followConnection()];
    const chatId = options.chatId ?? remembered.openChat();
    if (chatId === undefined) {
      this.show(freshId(), { empty: true });
    } else {
      this.show(chatId);
    }
    void this.chats.refresh();
    void this.settings.refresh();
    void this.models.refresh();
  }

  get chat(): Chat {
    return this.open;
  }

  openChat(chatId: string): void {
    batch(() => {
      this.expect(undefined);
      this.view.value = 'chat';
      if (chatId !== this.open.id.peek()) {
        this.show(chatId, { title: this.chats.rows.peek().find(row => row.chatId === chatId)?.title });
      }
    });
  }

  newChat(): void {
    this.view.value = 'chat';
    const { status, messages } = this.open;
    if (status.peek() === 'ready' && messages.peek().length === 0) {
      return;
    }
    if (this.transport.send({ type: 'new_chat' })) {
      this.expect('new');
    } else {
      this.show(freshId(), { empty: true });
    }
  }

  reconnect(): void {
    this.transport.reconnect();
  }

  draft(chatId: string): string {
    return remembered.draft(chatId);
  }

  setDraft(chatId: string, text: string): void {
    remembered.keepDraft(chatId, text);
  }

  dispose(): void {
    this.expect(undefined);
    for (const end of this.ends) {
      end();
    }
    this.open.dispose();
    this.chats.dispose();
    this.transport.dispose();
  }

  private show(chatId: string, known: Parameters<OpenChat['open']>[1] = {}): void {
    // What was made here and never begun is still empty, unless the answer to our attach says otherwise.
    const empty = known.empty ?? remembered.isUnbegun(chatId);
    this.open.open(chatId, { ...known, empty });
    if (empty) {
      remembered.keepUnbegun(chatId);
      this.open.model.value = remembered.lastModel();
    }
    if (this.options.chatId === undefined) {
      // A panel that was given its chat says nothing about what the person works on.
      remembered.keepOpenChat(chatId);
    }
  }

  private hear(event: AnyEvent): void {
    if (typeof event !== 'object' || event === null) {
      return;
    }
    const other =
      event.event === 'attached' && event.chat_id !== undefined && event.chat_id !== this.open.id.peek();
    if (other && event.event === 'attached' && event.chat_id !== undefined && this.expected) {
      const empty = this.expected === 'new';
      this.expect(undefined);
      this.show(event.chat_id, { empty, attached: event });
      return;
    }
    if (event.event === 'error' && !event.turn_id && this.expected === 'retry') {
      this.expect(undefined);
    }
    this.open.hear(event);
    this.chats.hear(event);
  }

  private followConnection(): () => void {
    let was = this.transport.state.peek();
    return this.transport.state.subscribe(state => {
      if (state === was) {
        return;
      }
      was = state;
      if (state !== 'open') {
        this.open.disconnected();
        return;
      }
      this.open.connected();
      for (const list of [this.chats, this.settings, this.models]) {
        // The chats may have changed meanwhile; the others only when they could not be read before.
        if (list === this.chats || list.status.peek() === 'failed') {
          void list.refresh();
        }
      }
    });
  }

  private expect(answer: 'new' | 'retry' | undefined): void {
    this.expected = answer;
    clearTimeout(this.patience);
    if (answer === 'new') {
      this.patience = setTimeout(() => {
        this.expected = undefined;
        this.show(freshId(), { empty: true });
      }, NEW_CHAT_MS);
    }
  }

  private renamed(chatId: string, title: string): void {
    if (chatId === this.open.id.peek()) {
      this.open.title.value = title;
    }
  }

  private removed(chatId: string): void {
    remembered.keepDraft(chatId, '');
    if (chatId === this.open.id.peek()) {
      this.show(freshId(), { empty: true });
    }
  }
}

/** Chat ids are free to choose, so a panel without a connection can begin one. */
const freshId = (): string => `panel-${randomText()}`;
