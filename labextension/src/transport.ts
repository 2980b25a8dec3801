/**
 * The way between a panel and its agent. A transport carries frames and requests and knows nothing of chats:
 * it reconnects by itself and says so, and whoever uses it attaches again.
 */
import type { ReadonlySignal } from '@preact/signals';
import type { Action, AnyEvent } from './protocol';

export type ConnectionState = 'connecting' | 'open' | 'lost';

export interface Transport {
  /** `comm`: no JupyterLab around; the kernel carries everything, so a busy kernel is a silent agent. */
  readonly kind: 'socket' | 'comm';
  /** `connecting` until the first `open`; `lost` while a connection that was there is being made again. */
  readonly state: ReadonlySignal<ConnectionState>;
  /** Why there is no connection, as a sentence for people, when it is more than "not yet"; e.g. "You are signed out …". */
  readonly problem: ReadonlySignal<string | undefined>;
  /** False when the frame could not be handed over because there is no connection. Nothing is queued. */
  send(action: Action): boolean;
  onEvent(hear: (event: AnyEvent) => void): () => void;
  /** One request to `cashcode/api/<path>`; rejects with `ApiError`, never with anything else. */
  request<T = unknown>(method: Method, path: string, body?: unknown, signal?: AbortSignal): Promise<T>;
  /** Try to connect now instead of after the pause. */
  reconnect(): void;
  dispose(): void;
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** What a request was answered with when it was no success: a sentence for people and the server's code. */
export class ApiError extends Error {
  constructor(
    /** The code of the protocol; `unreachable` without an answer, `bad_answer` for one that is not ours. */
    readonly code: string,
    readonly detail: string,
    /** The HTTP status, 0 without an answer. */
    readonly status: number,
    /** Everything else that the error body holds, e.g. `current_hash` of a conflict. */
    readonly facts: Readonly<Record<string, unknown>> = {}
  ) {
    super(detail);
  }
}
