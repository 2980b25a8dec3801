/** A laptop that slept, and a network that came back: what the socket does when nothing is heard. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { SocketTransport } from '../../src/transports/socket';

/** A socket whose other end is played by the test. */
class Line {
  static made: Line[] = [];
  readyState = 0;
  sent: string[] = [];
  closed = false;
  onopen: (() => void) | null = null;
  onmessage: ((message: { data: string }) => void) | null = null;
  onclose: ((event: { code: number }) => void) | null = null;
  onerror: (() => void) | null = null;

  constructor() {
    Line.made.push(this);
  }

  send(text: string): void {
    this.sent.push(text);
  }

  close(): void {
    this.closed = true;
  }

  open(): void {
    this.readyState = 1;
    this.onopen?.();
  }

  pings(): number {
    return this.sent.filter(text => text.includes('"ping"')).length;
  }
}

let transport: SocketTransport;

beforeEach(() => {
  vi.useFakeTimers();
  Line.made = [];
  transport = new SocketTransport({
    wsUrl: 'ws://test/cashcode/ws',
    apiUrl: 'http://test/cashcode/api',
    fetch: () => Promise.reject(new TypeError('offline')),
    WebSocket: Line as unknown as typeof WebSocket
  });
  Line.made[0].open();
});

afterEach(() => {
  transport.dispose();
  vi.useRealTimers();
});

describe('a connection on which nothing is heard', () => {
  it('is asked for a sign of life, and stays when one comes', () => {
    vi.advanceTimersByTime(26_000);
    expect(Line.made[0].pings()).toBe(1);
    Line.made[0].onmessage?.({ data: '{"event":"pong"}' });
    vi.advanceTimersByTime(20_000);
    expect(transport.state.value).toBe('open');
    expect(Line.made).toHaveLength(1);
  });

  it('is given up and made again when none comes', () => {
    vi.advanceTimersByTime(36_000);
    expect(transport.state.value).toBe('lost');
    expect(Line.made[0].closed).toBe(true);
    vi.advanceTimersByTime(1_000);
    expect(Line.made).toHaveLength(2);
    Line.made[1].open();
    expect(transport.state.value).toBe('open');
  });

  it('is asked at once when the page is seen again after a sleep', () => {
    document.dispatchEvent(new Event('visibilitychange'));
    expect(Line.made[0].pings()).toBe(1);
    vi.advanceTimersByTime(11_000);
    expect(transport.state.value).toBe('lost');
  });
});

describe('a connection that is being made again', () => {
  it('does not wait for its pause when the network is back', () => {
    Line.made[0].onclose?.({ code: 1006 });
    expect(transport.state.value).toBe('lost');
    globalThis.dispatchEvent(new Event('online'));
    expect(Line.made).toHaveLength(2);
  });

  it('waits longer with each failure, and never longer than 15 s', () => {
    Line.made[0].onclose?.({ code: 1006 });
    for (let tries = 0; tries < 12; tries += 1) {
      vi.advanceTimersByTime(15_000);
      Line.made.at(-1)?.onclose?.({ code: 1006 });
    }
    const before = Line.made.length;
    expect(before).toBeGreaterThan(10);
    vi.advanceTimersByTime(7_000);
    expect(Line.made).toHaveLength(before);
    vi.advanceTimersByTime(8_000);
    expect(Line.made).toHaveLength(before + 1);
  });
});
