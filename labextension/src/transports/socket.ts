/**
 * The WebSocket to the Jupyter server, and its REST addresses. It reconnects for ever: with growing pauses, at once
 * when the browser is online or visible again, and when a peer that should answer does not (a laptop that slept).
 */
import { signal } from '@preact/signals';
import { t } from '../i18n';
import type { Action, AnyEvent } from '../protocol';
import { ApiError, type ConnectionState, type Method, type Transport } from '../transport';
import { ask, signedOut, type Fetch } from './api';

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 15_000;
const PING_MS = 25_000;
const PONG_MS = 10_000;
const OPENING_MS = 20_000;
/** A connection that lasted this long was a good one: the next pause is short again. */
const GOOD_MS = 5_000;
const TOO_SLOW = 1013;
const TOO_BIG = 1009;
/** Handshakes refused in a row before the server is asked why. */
const ASK_AFTER = 2;

export interface SocketOptions {
  /** The whole address of `cashcode/ws`, with a token when there is one. A function is asked for each connection. */
  wsUrl: string | (() => string);
  /** The address of `cashcode/api`, without a slash at its end. */
  apiUrl: string;
  /** With the page's credentials; JupyterLab's `makeRequest` is one. */
  fetch: Fetch;
  WebSocket?: typeof WebSocket;
}

export class SocketTransport implements Transport {
  readonly kind = 'socket';
  readonly state = signal<ConnectionState>('connecting');
  readonly problem = signal<string | undefined>(undefined);

  private readonly hearers = new Set<(event: AnyEvent) => void>();
  private readonly ending = new AbortController();
  private socket: WebSocket | undefined;
  private pause = FIRST_PAUSE_MS;
  private refused = 0;
  private openedAt = 0;
  private retry: ReturnType<typeof setTimeout> | undefined;
  private pulse: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly options: SocketOptions) {
    const { signal } = this.ending;
    globalThis.addEventListener?.('online', () => this.wake(), { signal });
    globalThis.document?.addEventListener(
      'visibilitychange',
      () => {
        if (document.visibilityState === 'visible') {
          this.wake();
        }
      },
      { signal }
    );
    this.connect();
  }

  send(action: Action): boolean {
    if (this.socket === undefined || this.state.peek() !== 'open' || this.socket.readyState !== 1) {
      return false;
    }
    try {
      this.socket.send(JSON.stringify(action));
      return true;
    } catch {
      return false;
    }
  }

  onEvent(hear: (event: AnyEvent) => void): () => void {
    this.hearers.add(hear);
    return () => this.hearers.delete(hear);
  }

  request<T>(method: Method, path: string, body?: unknown, signal?: AbortSignal): Promise<T> {
    return ask<T>(this.options.fetch, `${this.options.apiUrl}/${path}`, method, body, signal);
  }

  reconnect(): void {
    if (!this.ending.signal.aborted && this.state.peek() !== 'open') {
      this.pause = FIRST_PAUSE_MS;
      this.connect();
    }
  }

  dispose(): void {
    this.ending.abort();
    clearTimeout(this.retry);
    this.hearers.clear();
    this.drop();
    this.state.value = 'lost';
  }

  /** Something changed around us: connect now, or see whether the open connection still lives. */
  private wake(): void {
    if (this.state.peek() === 'open') {
      this.ping();
    } else {
      this.reconnect();
    }
  }

  private connect(): void {
    clearTimeout(this.retry);
    this.drop();
    const { wsUrl, WebSocket: Socket = globalThis.WebSocket } = this.options;
    let socket: WebSocket;
    try {
      socket = new Socket(typeof wsUrl === 'string' ? wsUrl : wsUrl());
    } catch {
      this.lost(0);
      return;
    }
    this.socket = socket;
    socket.onopen = () => {
      this.openedAt = Date.now();
      this.refused = 0;
      this.problem.value = undefined;
      this.state.value = 'open';
      this.waitForPing();
    };
    socket.onmessage = message => this.hear(message.data);
    // The `close` that follows every failure tells as much.
    socket.onerror = () => undefined;
    socket.onclose = event => {
      const opened = this.state.peek() === 'open';
      this.drop();
      this.refused = opened ? 0 : this.refused + 1;
      this.lost(event.code);
    };
    this.pulse = setTimeout(() => {
      this.drop();
      this.lost(0);
    }, OPENING_MS);
  }

  /** Take leave of the socket; nothing of it is heard any more. */
  private drop(): void {
    clearTimeout(this.pulse);
    const socket = this.socket;
    this.socket = undefined;
    if (socket) {
      socket.onopen = socket.onmessage = socket.onclose = null;
      socket.close(1000);
    }
  }

  private lost(code: number): void {
    if (this.ending.signal.aborted) {
      return;
    }
    const good = this.state.peek() === 'open' && (Date.now() - this.openedAt > GOOD_MS || code === TOO_SLOW);
    if (good) {
      this.pause = FIRST_PAUSE_MS;
    }
    if (this.state.peek() === 'open') {
      this.state.value = 'lost';
    }
    if (code === TOO_BIG) {
      this.problem.value = t('The last message was too large to be sent.');
    }
    if (this.refused >= ASK_AFTER) {
      void this.diagnose();
    }
    const pause = code === TOO_SLOW ? 0 : this.pause * (0.5 + Math.random() / 2);
    this.pause = Math.min(this.pause * 2, LONGEST_PAUSE_MS);
    this.retry = setTimeout(() => this.connect(), pause);
  }

  /** A browser does not tell why a handshake failed; a request does. */
  private async diagnose(): Promise<void> {
    let problem: string | undefined;
    try {
      await this.request('GET', 'health', undefined, this.ending.signal);
    } catch (error) {
      if (error instanceof ApiError && error.code !== 'aborted') {
        const ours = error.code !== 'bad_answer' && error.code !== 'unreachable';
        problem = error.status === 401 || (error.status === 403 && !ours) ? signedOut() : error.detail;
      }
    }
    if (this.state.peek() !== 'open' && !this.ending.signal.aborted) {
      this.problem.value = problem;
    }
  }

  private hear(data: unknown): void {
    this.waitForPing();
    let event: unknown;
    try {
      event = JSON.parse(String(data));
    } catch {
      return;
    }
    if (typeof event !== 'object' || event === null || !('event' in event) || event.event === 'pong') {
      return;
    }
    for (const hear of [...this.hearers]) {
      hear(event as AnyEvent);
    }
  }

  /** Whatever is heard is a sign of life. */
  private waitForPing(): void {
    clearTimeout(this.pulse);
    this.pulse = setTimeout(() => this.ping(), PING_MS);
  }

  private ping(): void {
    clearTimeout(this.pulse);
    this.send({ type: 'ping' });
    this.pulse = setTimeout(() => {
      this.drop();
      this.lost(0);
    }, PONG_MS);
  }
}
