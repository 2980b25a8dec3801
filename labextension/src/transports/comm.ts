/**
 * The way through a notebook's kernel, for pages without JupyterLab: frames and requests travel as custom messages of
 * the widget. The kernel says when it is there; one that is silent is asked again, for it may be busy or new.
 */
import { signal } from '@preact/signals';
import { t } from '../i18n';
import type { Action, AnyEvent } from '../protocol';
import { ApiError, type ConnectionState, type Method, type Transport } from '../transport';
import { aborted, answer } from './api';

/** The part of an anywidget model that this needs. */
export interface CommModel {
  send(content: unknown): void;
  /** `comm_live_update`: the widget manager of JupyterLab says that the kernel's end came or went. */
  on(event: 'msg:custom' | 'comm_live_update', hear: (content: unknown) => void): void;
  off(event: 'msg:custom' | 'comm_live_update', hear: (content: unknown) => void): void;
}

/** A kernel that runs a cell answers after it; a request is given up later than a greeting is repeated. */
const HELLO_MS = 10_000;
/** After a sign that the kernel was restarted there is less reason to be patient. */
const SIGN_MS = 2_000;
const ANSWER_MS = 60_000;

interface Pending {
  resolve(answer: { status: number; body: unknown }): void;
  reject(error: ApiError): void;
}

export class CommTransport implements Transport {
  readonly kind = 'comm';
  readonly state = signal<ConnectionState>('connecting');
  readonly problem = signal<string | undefined>(undefined);

  private readonly hearers = new Set<(event: AnyEvent) => void>();
  /** Every view of a widget hears every message of the kernel, so names and numbers are of one view only. */
  private readonly view = crypto.getRandomValues(new Uint32Array(2)).join('-');
  private readonly pending = new Map<string, Pending>();
  private readonly listen = (content: unknown): void => this.hear(content);
  private readonly doubt = (): void => this.greet(SIGN_MS);
  private lastId = 0;
  private disposed = false;
  private silence: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly model: CommModel) {
    model.on('msg:custom', this.listen);
    model.on('comm_live_update', this.doubt);
    this.greet();
  }

  send(action: Action): boolean {
    return !this.disposed && this.state.peek() === 'open' && this.post({ kind: 'action', action });
  }

  onEvent(hear: (event: AnyEvent) => void): () => void {
    this.hearers.add(hear);
    return () => this.hearers.delete(hear);
  }

  async request<T>(method: Method, path: string, body?: unknown, signal?: AbortSignal): Promise<T> {
    if (this.disposed || signal?.aborted) {
      throw aborted();
    }
    const id = `${this.view}-${(this.lastId += 1)}`;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const cancel = (): void => {
      this.post({ kind: 'cancel', id });
      this.pending.get(id)?.reject(aborted());
    };
    try {
      const { status, body: given } = await new Promise<{ status: number; body: unknown }>((resolve, reject) => {
        this.pending.set(id, { resolve, reject });
        signal?.addEventListener('abort', cancel);
        timer = setTimeout(() => reject(silent()), ANSWER_MS);
        if (!this.post({ kind: 'request', id, method, path, ...(body !== undefined && { body }) })) {
          reject(silent());
        }
        this.expectAnswer();
      });
      return answer<T>(status, given ?? undefined, given == null);
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', cancel);
      this.pending.delete(id);
    }
  }

  reconnect(): void {
    if (!this.disposed && this.state.peek() !== 'open') {
      this.greet();
    }
  }

  dispose(): void {
    if (this.disposed) {
      return;
    }
    this.post({ kind: 'bye', view: this.view });
    this.disposed = true;
    clearTimeout(this.silence);
    this.model.off('msg:custom', this.listen);
    this.model.off('comm_live_update', this.doubt);
    for (const waiting of [...this.pending.values()]) {
      waiting.reject(aborted());
    }
    this.hearers.clear();
    this.state.value = 'lost';
  }

  private greet(patience = HELLO_MS): void {
    this.post({ kind: 'hello', view: this.view });
    clearTimeout(this.silence);
    this.silence = undefined;
    this.expectAnswer(patience);
  }

  /** A dead kernel's model swallows what it is sent, so silence is the only sign of it. */
  private expectAnswer(patience = HELLO_MS): void {
    this.silence ??= setTimeout(() => {
      this.problem.value = t(
        'The notebook kernel does not answer. It is busy, or it was restarted: run the cell again.'
      );
      this.change('lost');
      this.greet();
    }, patience);
  }

  private heard(): void {
    clearTimeout(this.silence);
    this.silence = undefined;
    if (this.pending.size > 0) {
      this.expectAnswer();
    }
  }

  private hear(content: unknown): void {
    if (!isRecord(content)) {
      return;
    }
    switch (content.kind) {
      case 'state':
        this.heard();
        this.problem.value =
          content.state === 'lost' && typeof content.detail === 'string' ? content.detail : undefined;
        this.change(content.state === 'open' ? 'open' : 'lost');
        break;
      case 'event':
        this.heard();
        if (isRecord(content.event)) {
          for (const hear of [...this.hearers]) {
            hear(content.event as unknown as AnyEvent);
          }
        }
        break;
      case 'answer': {
        const id = String(content.id);
        const waiting = this.pending.get(id);
        this.pending.delete(id);
        this.heard();
        if (typeof content.status === 'number') {
          waiting?.resolve({ status: content.status, body: content.body });
        }
        break;
      }
      default:
      // Of a younger kernel side.
    }
  }

  /** `connecting` lasts until the first `open`. */
  private change(state: 'open' | 'lost'): void {
    if (state === 'open' || this.state.peek() === 'open') {
      this.state.value = state;
    }
  }

  private post(message: Record<string, unknown>): boolean {
    if (this.disposed) {
      return false;
    }
    try {
      this.model.send(message);
      return true;
    } catch {
      return false;
    }
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

const silent = (): ApiError => new ApiError('unreachable', t('The notebook kernel does not answer.'), 0);
