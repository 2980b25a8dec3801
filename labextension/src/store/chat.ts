/**
 * One open chat. Three sources are brought together: the history (REST), the events of the socket and what the person
 * sent. The rules:
 *
 * - An event is taken once: `seq` up to the last one seen is dropped, and after a new connection the panel attaches
 *   with that number. A hole in the numbers, or a turn that ended meanwhile, is filled from the history.
 * - While the history is read, events wait; so the history may be newer than an event, never older than the next one.
 * - A running turn is always told from its beginning, so what the history has of it already is replaced.
 */
import { batch, computed, signal, type ReadonlySignal } from '@preact/signals';
import type { AnyEvent, AttachedEvent, ErrorEvent, TurnStartedEvent } from '../protocol';
import type { Transport } from '../transport';
import { hasAny } from './attachments';
import { Conversation } from './conversation';
import { notConnected, ofEvent, ofRequest } from './errors';
import { userOf } from './history';
import { actionOf, Outbox, type Letter } from './outbox';
import { PAGE, Pages } from './pages';
import * as remembered from './remembered';
import { Stream } from './stream';
import { Turn } from './turn';
import type { Attachments, Chat, ChatError, ChatMessage, ModelChoice, Scope, UserMessage } from './types';

/** The history is read without waiting for the server's `attached` after this time. */
const ATTACH_MS = 250;

export class OpenChat implements Chat {
  readonly id = signal('');
  readonly title = signal('');
  readonly status = signal<'loading' | 'ready' | 'failed'>('loading');
  readonly loadError = signal<ChatError | undefined>(undefined);
  readonly problem = signal<ChatError | undefined>(undefined);
  readonly older = signal<'none' | 'some' | 'loading' | 'failed'>('none');
  readonly model = signal<ModelChoice | undefined>(undefined);
  readonly messages: ReadonlySignal<ChatMessage[]>;
  readonly running: ReadonlySignal<boolean>;

  private readonly conversation = new Conversation();
  private readonly outbox = new Outbox();
  private readonly stream = new Stream();
  private readonly pages: Pages;
  private readonly turn = signal<Turn | undefined>(undefined);
  /** The server has something to do in this chat, whatever we know of it. */
  private readonly serverRuns = signal(false);
  private lastSeq = 0;
  /** The number of the next event says where we are; there is nothing before it to miss. */
  private anySeq = true;
  /** A new server counts from what was stored when the last turn ended. */
  private newServer = false;
  private attaches = 0;
  /** The server's last number when it answered our attach: up to there it tells what it knows. */
  private toldUntil: number | undefined;
  private waiting: AnyEvent[] | undefined;
  /** Counts readings of the history; an older one's answer is not used. */
  private reading = 0;
  /** Counts the chats that were shown, so that a late answer does not end up in another one. */
  private visit = 0;
  /** Steers that the server took before their turn began. */
  private earlySteers = 0;
  private early: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly transport: Transport,
    /** The next `attached` of a chat that is not shown is the retry. */
    private readonly onRetry: () => void
  ) {
    this.pages = new Pages(transport);
    this.messages = this.conversation.messages;
    this.running = computed(() => this.turn.value !== undefined || this.serverRuns.value || this.outbox.busy.value);
  }

  /** Show another chat. `title` may be known from a list; `empty`: it was just made and has no history. */
  open(chatId: string, known: { title?: string; empty?: boolean; attached?: AttachedEvent } = {}): void {
    batch(() => {
      this.leave();
      this.id.value = chatId;
      this.title.value = known.title ?? known.attached?.title ?? '';
      this.status.value = known.empty ? 'ready' : 'loading';
      this.serverRuns.value = known.attached?.running ?? false;
    });
    if (known.attached) {
      if (!known.empty) {
        void this.read();
      }
    } else {
      this.attach();
      if (this.attaches === 0 && this.status.peek() === 'loading' && !this.waiting) {
        void this.read();
      }
    }
  }

  /** There is a new connection. */
  connected(): void {
    // What waits comes again, because it is not among what was seen.
    this.waiting = this.waiting?.filter(event => event.seq === undefined);
    this.attach();
  }

  /** The connection is gone; what it was to answer will not be answered. */
  disconnected(): void {
    this.attaches = 0;
    this.toldUntil = undefined;
    clearTimeout(this.early);
    this.stream.flush();
    this.outbox.doubt();
  }

  dispose(): void {
    this.leave();
  }

  hear(event: AnyEvent): void {
    if (event.chat_id !== this.id.peek()) {
      if (event.event === 'error' && event.chat_id === undefined) {
        this.problem.value = ofEvent(event);
      }
      return;
    }
    if (event.event === 'attached') {
      this.attached(event);
    } else if (event.seq !== undefined && this.attaches > 0) {
      // From before our attach, which brings it again.
    } else if (this.waiting) {
      this.waiting.push(event);
    } else {
      this.take(event);
    }
  }

  send(content: string, attachments: Partial<Attachments> = {}, model?: ModelChoice): boolean {
    if (!content.trim()) {
      return false;
    }
    const steer = this.running.peek() && !hasAny(attachments);
    const letter = this.outbox.write(content, attachments, model, steer);
    if (model) {
      remembered.keepModel(model);
    }
    return this.post(letter, () => this.conversation.push(letter.message));
  }

  resend(key: string): void {
    const letter = this.outbox.again(key);
    if (letter) {
      letter.message.steer.value = this.running.peek() && !hasAny(letter.attachments);
      this.post(letter, () => this.conversation.moveToEnd(letter.message));
    }
  }

  stop(): void {
    this.hand({ type: 'cancel', chat_id: this.id.peek() });
  }

  decide(callId: string, decision: 'allow' | 'deny', scope: Scope): void {
    this.hand({ type: 'approval', chat_id: this.id.peek(), call_id: callId, decision, scope });
  }

  retry(cursor: number, content?: string): void {
    const words = content === undefined ? {} : { content };
    if (this.hand({ type: 'retry', chat_id: this.id.peek(), from_cursor: cursor, ...words })) {
      this.onRetry();
    }
  }

  async loadOlder(): Promise<void> {
    const before = this.conversation.firstCursor;
    if (before === undefined || this.older.peek() === 'none' || this.older.peek() === 'loading') {
      return;
    }
    const visit = this.visit;
    this.older.value = 'loading';
    let page: Awaited<ReturnType<Pages['read']>> | undefined;
    try {
      page = await this.pages.read(this.id.peek(), before);
    } catch {
      page = undefined;
    }
    if (visit !== this.visit || this.older.peek() !== 'loading') {
      return;
    }
    batch(() => {
      if (page === undefined) {
        this.older.value = 'failed';
      } else if (this.conversation.firstCursor !== before) {
        this.older.value = 'some'; // the list was read anew meanwhile
      } else {
        this.conversation.prepend(page);
        this.older.value = page.length < PAGE ? 'none' : 'some';
      }
    });
  }

  async reload(): Promise<void> {
    this.loadError.value = undefined;
    this.status.value = 'loading';
    this.lastSeq = 0;
    this.anySeq = true;
    this.attach(); // a running turn must be told from its start again
    await this.read();
  }

  fullResult(callId: string): Promise<string> {
    return this.pages.result(this.id.peek(), callId);
  }

  private leave(): void {
    clearTimeout(this.early);
    this.reading += 1;
    this.visit += 1;
    this.earlySteers = 0;
    this.stream.clear();
    this.outbox.clear();
    this.conversation.clear();
    this.turn.value = this.loadError.value = this.problem.value = this.model.value = undefined;
    this.serverRuns.value = false;
    this.older.value = 'none';
    this.lastSeq = this.attaches = 0;
    this.anySeq = true;
    this.waiting = this.toldUntil = undefined;
  }

  private hand(action: Parameters<Transport['send']>[0]): boolean {
    const handed = this.transport.send(action);
    if (!handed) {
      this.problem.value = notConnected();
    }
    return handed;
  }

  private post(letter: Letter, show: () => void): boolean {
    const action = actionOf(this.id.peek(), letter);
    if (!this.transport.send(action)) {
      return false;
    }
    remembered.keepBegun(this.id.peek());
    batch(() => {
      show();
      this.outbox.keep(letter);
      this.problem.value = undefined;
    });
    return true;
  }

  private attach(): void {
    this.attaches += 1;
    if (!this.transport.send({ type: 'attach', chat_id: this.id.peek(), after_seq: this.lastSeq })) {
      this.attaches = 0;
      return;
    }
    if (this.attaches > 0 && this.status.peek() === 'loading') {
      clearTimeout(this.early);
      this.early = setTimeout(() => void this.read(), ATTACH_MS);
    }
  }

  private attached(event: AttachedEvent): void {
    if (this.attaches === 0) {
      return;
    }
    this.attaches -= 1;
    if (this.attaches > 0) {
      return; // of an attach before the last one
    }
    clearTimeout(this.early);
    const missed = event.last_seq !== this.lastSeq;
    // Just made, here and on the server: there is no history to ask for.
    const fresh = this.status.peek() === 'ready' && this.anySeq && event.last_seq === 0 && !event.running;
    this.newServer = event.last_seq < this.lastSeq;
    if (this.newServer) {
      this.lastSeq = 0; // or the chat was deleted and made again
      this.anySeq = true;
    }
    const again = this.status.peek() === 'ready' && !this.anySeq;
    batch(() => {
      if (event.title) {
        this.title.value = event.title;
      }
      this.serverRuns.value = event.running;
      this.toldUntil = event.last_seq;
    });
    if (!event.running) {
      this.lastSeq = event.last_seq; // what would be replayed is finished, and in the history
      this.anySeq = false;
    }
    if (!fresh && (!again || (!event.running && (missed || this.turn.peek())))) {
      void this.read();
    } else {
      this.settleOutbox();
    }
  }

  /** Read the newest page while events wait, then take those. */
  private async read(): Promise<void> {
    const reading = (this.reading += 1);
    this.waiting ??= [];
    let failure: ChatError | undefined;
    let page: Awaited<ReturnType<Pages['read']>> = [];
    try {
      page = await this.pages.read(this.id.peek());
    } catch (error) {
      failure = ofRequest(error);
    }
    if (reading !== this.reading) {
      return;
    }
    batch(() => {
      if (failure) {
        this.failed(failure);
      } else {
        this.arrived(page);
      }
      const waiting = this.waiting ?? [];
      this.waiting = undefined;
      for (const event of waiting) {
        this.hear(event);
      }
      this.settleOutbox();
    });
  }

  private arrived(page: Awaited<ReturnType<Pages['read']>>): void {
    const turn = this.leaveTurn();
    const complete = page.length < PAGE;
    const first = this.status.peek() !== 'ready';
    const joined = this.conversation.merge(page, complete);
    if (this.newServer && turn?.endsInCall && turn.answer.stopReason.peek() === 'answered') {
      turn.breakOff();
    }
    this.newServer = false;
    if (complete) {
      this.older.value = 'none';
    } else if (first || !joined) {
      this.older.value = 'some';
    }
    this.loadError.value = undefined;
    this.status.value = 'ready';
  }

  private failed(failure: ChatError): void {
    if (this.status.peek() === 'ready') {
      this.problem.value = failure;
      this.leaveTurn();
    } else {
      this.loadError.value = failure;
      this.status.value = 'failed';
    }
  }

  private take(event: AnyEvent): void {
    if (event.seq !== undefined) {
      const first = ('first_seq' in event ? event.first_seq : undefined) ?? event.seq;
      const known = this.lastSeq;
      if (event.seq <= known && !(first === 1 && known > 1 && event.event === 'session_updated')) {
        return;
      }
      if (!this.anySeq && first !== known + 1) {
        this.startOver(event);
        return;
      }
      this.lastSeq = event.seq;
      this.anySeq = false;
    }
    this.reduce(event);
    this.settleOutbox();
  }

  /** Events are missing before this one: read what the history has of them, and the running turn from its start. */
  private startOver(event: AnyEvent): void {
    if (event.event === 'session_updated' || event.event === 'turn_started') {
      // A turn begins here, so only the history is missing.
      this.waiting = [event];
      this.lastSeq = 0;
      this.anySeq = true;
      void this.read();
    } else {
      this.lastSeq = 0;
      this.anySeq = true;
      this.attach();
    }
  }

  private reduce(event: AnyEvent): void {
    switch (event.event) {
      case 'session_updated':
        this.title.value = event.title;
        return;
      case 'turn_started':
        this.begin(event);
        return;
      case 'queued': {
        const own = this.outbox.byRef(event.ref);
        if (own?.state.peek() === 'sending' || own?.state.peek() === 'unsent') {
          own.state.value = 'queued';
        }
        return;
      }
      case 'steered':
        this.steered();
        return;
      case 'error':
        if (!event.turn_id) {
          this.refused(event);
          return;
        }
        break;
      default:
      // Of the inside of a turn.
    }
    const turn = this.turn.peek();
    if (!turn || event.turn_id !== turn.id) {
      return; // of no turn that we know, or an event younger than this panel
    }
    turn.hear(event);
    if (event.event === 'done' || event.event === 'error') {
      this.endTurn();
      this.serverRuns.value = false;
      if (turn.incomplete) {
        void this.read();
      }
    }
  }

  private begin(event: TurnStartedEvent): void {
    this.endTurn();
    this.stream.clear();
    const own = this.outbox.byRef(event.ref);
    remembered.keepBegun(this.id.peek());
    const answer = this.conversation.beginTurn(event.turn_id ?? '', event.user_cursor, own);
    this.turn.value = new Turn(event.turn_id ?? '', event.user_cursor, answer, this.stream);
    this.model.value = event.llm;
    this.serverRuns.value = true;
    this.problem.value = undefined;
    this.outbox.forgetSent();
    for (; this.earlySteers > 0; this.earlySteers -= 1) {
      this.steered();
    }
    if (!own && !this.conversation.byCursor(event.user_cursor)) {
      void this.fetchUser(event.user_cursor, this.turn.value);
    }
  }

  /** Another tab's message, or words of ours that were to steer and came after the turn. */
  private async fetchUser(cursor: number, turn: Turn): Promise<void> {
    const visit = this.visit;
    try {
      const bubble = await this.pages.message(this.id.peek(), cursor);
      if (!bubble || visit !== this.visit || this.conversation.byCursor(cursor)) {
        return;
      }
      const user = this.outbox.steerOf(bubble.content) ?? userOf(bubble);
      batch(() => {
        user.cursor = cursor;
        user.steer.value = false;
        user.state.value = 'sent';
        this.conversation.insertBefore(turn.messages[0], user);
      });
    } catch {
      turn.incomplete = true; // the end of the turn reads it again
    }
  }

  private steered(): void {
    const turn = this.turn.peek();
    if (!turn) {
      this.earlySteers += 1;
      return;
    }
    const user: UserMessage | undefined =
      this.outbox.firstSending(true) ?? this.conversation.takeSteer(turn.userCursor);
    if (user) {
      turn.goOnIn(this.conversation.steer(turn.answer, user));
    } else {
      turn.incomplete = true;
    }
  }

  /** An error that belongs to no turn: what it answers goes back to the person. */
  private refused(event: ErrorEvent): void {
    this.problem.value = ofEvent(event);
    if (!this.turn.peek()) {
      this.serverRuns.value = false;
    }
    if (event.seq === undefined && event.ref === undefined && this.attaches > 0) {
      this.attaches = 0; // it is our attach that was refused
      void this.read();
      return;
    }
    const guilty =
      event.code === 'not_found' ? undefined : (this.outbox.firstSending(false) ?? this.outbox.firstSending(true));
    const message = event.ref === undefined ? guilty : this.outbox.byRef(event.ref);
    if (message && message.state.peek() !== 'sent') {
      message.state.value = 'unsent';
    }
  }

  /** The turn's end was not heard. When the server does not run it, only the history can say that it had one. */
  private leaveTurn(): Turn | undefined {
    const turn = this.serverRuns.peek() ? undefined : this.turn.peek();
    this.endTurn();
    turn?.breakOff();
    return turn;
  }

  private endTurn(): void {
    const turn = this.turn.peek();
    if (turn) {
      turn.end();
      for (const empty of turn.withoutEmpty()) {
        this.conversation.drop(empty);
      }
      this.turn.value = undefined;
    }
  }

  /** Once the server told all it knew when we attached: what it did not mention, it does not have. */
  private settleOutbox(): void {
    if (this.toldUntil !== undefined && !this.waiting && this.lastSeq >= this.toldUntil) {
      this.toldUntil = undefined;
      this.outbox.giveUp();
    }
  }
}
