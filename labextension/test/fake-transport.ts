/** A transport without a wire: a test emits events, reads what was sent and answers requests from a table. */
import { signal, type Signal } from '@preact/signals';
import type { Action, AnyEvent } from '../src/protocol';
import { ApiError, type ConnectionState, type Method, type Transport } from '../src/transport';

/** What was asked, e.g. `{ method: 'GET', path: 'sessions?limit=50', body: undefined }`. */
export interface Asked {
  method: Method;
  path: string;
  body: unknown;
}

/** An answer: a value, an `ApiError` that it rejects with, or a function of what was asked that gives either. */
export type Answer = unknown;

export interface FakeOptions {
  kind?: 'socket' | 'comm';
  state?: ConnectionState;
}

export class FakeTransport implements Transport {
  readonly kind: 'socket' | 'comm';
  readonly state: Signal<ConnectionState>;
  readonly problem = signal<string | undefined>(undefined);
  /** Every action that was handed over, oldest first. */
  readonly sent: Action[] = [];
  /** Every request, oldest first. */
  readonly asked: Asked[] = [];
  /** `attach` is answered at once with these facts; undefined leaves the answer to the test. */
  attached: { running?: boolean; last_seq?: number; title?: string } | undefined = {};
  reconnects = 0;
  disposed = false;

  private readonly hearers = new Set<(event: AnyEvent) => void>();
  private readonly answers = new Map<string, Answer>();

  /** `new FakeTransport({ 'GET sessions': { sessions: [], next: null } })`. */
  constructor(answers: Record<string, Answer> = {}, options: FakeOptions = {}) {
    this.kind = options.kind ?? 'socket';
    this.state = signal<ConnectionState>(options.state ?? 'open');
    for (const [request, answer] of Object.entries(answers)) {
      this.answers.set(request, answer);
    }
  }

  /**
   * Answer `METHOD path` from now on. The query may be left out of `path`; a request whose path begins with an
   * answered one and a `?` takes it. Without an entry a request is answered with `not_found`.
   */
  answer(request: string, answer: Answer): void {
    this.answers.set(request, answer);
  }

  /** Let the panel hear an event, as from the server. Unknown ones may be given as well. */
  emit(event: AnyEvent | Record<string, unknown>): void {
    for (const hear of [...this.hearers]) {
      hear(event as AnyEvent);
    }
  }

  /** The last action of a type. */
  last<T extends Action['type']>(type: T): (Action & { type: T }) | undefined {
    return this.sent.filter((action): action is Action & { type: T } => action.type === type).at(-1);
  }

  send(action: Action): boolean {
    if (this.state.value !== 'open' || this.disposed) {
      return false;
    }
    this.sent.push(action);
    if (action.type === 'attach' && this.attached) {
      const facts = { running: false, last_seq: 0, title: '', ...this.attached };
      this.emit({ event: 'attached', chat_id: action.chat_id, ...facts });
    }
    return true;
  }

  onEvent(hear: (event: AnyEvent) => void): () => void {
    this.hearers.add(hear);
    return () => this.hearers.delete(hear);
  }

  async request<T>(method: Method, path: string, body?: unknown, signal?: AbortSignal): Promise<T> {
    const asked: Asked = { method, path, body };
    this.asked.push(asked);
    await Promise.resolve();
    if (signal?.aborted) {
      throw new ApiError('aborted', 'aborted', 0);
    }
    const entry = this.answers.get(`${method} ${path}`) ?? this.answers.get(`${method} ${path.split('?')[0]}`);
    const answer: unknown = typeof entry === 'function' ? await (entry as (asked: Asked) => unknown)(asked) : entry;
    if (answer === undefined) {
      throw new ApiError('not_found', 'There is nothing at this address.', 404);
    }
    if (answer instanceof Error) {
      throw answer;
    }
    return answer as T;
  }

  reconnect(): void {
    this.reconnects += 1;
  }

  dispose(): void {
    this.disposed = true;
    this.hearers.clear();
  }
}

/** Let pending promises of answered requests settle. */
export const settled = (): Promise<void> => new Promise(resolve => setTimeout(resolve, 0));
