/**
 * Whatever is said, and wherever the connection breaks: in the end the panel shows what one that never lost it shows.
 * A small server keeps the events and the history, and answers `attach` as the real one does.
 */
import { beforeEach, describe, expect, it } from 'vitest';
import { createStore } from '../../src/store/store';
import type { Action } from '../../src/protocol';
import type { Store } from '../../src/store/types';
import { FakeTransport, settled } from '../fake-transport';
import { spoken } from './spoken';

const CHAT = 'c';
type Event = Record<string, unknown> & { event: string; seq: number };
interface Stored {
  cursor: number;
  role: string;
  content: string;
  parts?: Record<string, string>[];
  tool_calls?: Record<string, unknown>[];
  outcome?: Record<string, unknown>;
}

/** Mulberry32: small, seeded, even enough. */
function dice(seed: number): (sides: number) => number {
  let state = seed;
  return sides => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296) * sides);
  };
}

class Line extends FakeTransport {
  constructor(private readonly server: Server) {
    super({ [`GET sessions/${CHAT}/messages`]: ({ path }: { path: string }) => server.page(path) });
    this.attached = undefined;
  }

  override send(action: Action): boolean {
    const handed = super.send(action);
    if (handed && action.type === 'attach') {
      this.server.attach(this, action.after_seq ?? 0);
    }
    return handed;
  }
}

/** One chat; its events of the last turn are kept, as in the journal. */
class Server {
  readonly stored: Stored[] = [];
  private readonly lines = new Set<Line>();
  private events: Event[] = [];
  private seq = 0;
  private turn: { id: string; running: boolean } = { id: '', running: false };
  private turns = 0;
  private cursor = 0;

  constructor(private readonly keeps: boolean) {}

  page(path: string): { messages: Stored[] } {
    const query = new URLSearchParams(path.split('?')[1]);
    const before = Number(query.get('before') ?? Infinity);
    return structuredClone({
      messages: this.stored.filter(row => row.cursor < before).slice(-Number(query.get('limit') ?? 50))
    });
  }

  attach(line: Line, after: number): void {
    line.emit({ event: 'attached', chat_id: CHAT, running: this.turn.running, last_seq: this.seq, title: '' });
    for (const event of this.events) {
      if (event.seq > after || after > this.seq) {
        line.emit(event);
      }
    }
    this.lines.add(line);
  }

  cut(line: Line): void {
    this.lines.delete(line);
  }

  begin(content: string): void {
    this.turns += 1;
    this.turn = { id: `t${this.turns}`, running: true };
    this.events = [];
    this.stored.push({ cursor: (this.cursor += 1), role: 'user', content });
    this.tell('turn_started', { user_cursor: this.cursor, llm: { provider: 'ollama', model: 'm' } });
  }

  say(event: 'delta' | 'reasoning', text: string): void {
    const parts = (this.answer.parts ??= []);
    const kind = event === 'delta' ? 'text' : 'reasoning';
    const last = parts.at(-1);
    if (last?.kind === kind) {
      last.text += text;
    } else {
      parts.push({ kind, text });
    }
    this.tell(event, { text });
  }

  call(id: string, ok: boolean): void {
    const answer = this.answer;
    const facts = { call_id: id, tool_name: 'grep', arguments: {}, risk: 'read' };
    (answer.parts ??= []).push({ kind: 'call', call_id: id });
    (answer.tool_calls ??= []).push({ ...facts, ok, result: 'r' });
    this.tell('tool_call', facts);
    this.tell('tool_result', { ...facts, ok, result: 'r', truncated: false, duration_sec: 1 });
  }

  end(error: boolean): void {
    this.turn.running = false;
    const last = this.stored.at(-1);
    if (last && (error || last.role === 'user')) {
      last.outcome = error ? { stop_reason: 'error', error: 'llm_server' } : { stop_reason: 'cancelled' };
    }
    if (error) {
      this.tell('error', { code: 'llm_server', detail: 'x', retryable: true });
    } else {
      this.tell('stream_end', {});
      this.tell('done', { stop_reason: last?.role === 'user' ? 'cancelled' : 'answered', duration_sec: 1 });
    }
    if (!this.keeps) {
      this.events = [];
    }
  }

  private get answer(): Stored {
    const last = this.stored.at(-1);
    if (last?.role === 'assistant') {
      return last;
    }
    const answer: Stored = { cursor: (this.cursor += 1), role: 'assistant', content: '' };
    this.stored.push(answer);
    return answer;
  }

  private tell(event: string, fields: Record<string, unknown>): void {
    const told = { event, chat_id: CHAT, seq: (this.seq += 1), turn_id: this.turn.id, stream_id: 1, ...fields };
    this.events.push(told);
    for (const line of this.lines) {
      line.emit(structuredClone(told));
    }
  }
}

/** One random conversation; `listeners` are cut off and come back at random. */
async function converse(seed: number): Promise<{ steady: string[]; broken: string[]; late: string[] }> {
  const roll = dice(seed);
  const server = new Server(roll(2) === 0);
  const open = async (): Promise<[Line, Store]> => {
    const line = new Line(server);
    const store = createStore(line, { chatId: CHAT });
    await settled();
    return [line, store];
  };
  const [, steady] = await open();
  const [line, broken] = await open();
  const breakMaybe = async (): Promise<void> => {
    if (line.state.value === 'open' ? roll(5) === 0 : roll(3) === 0) {
      if (line.state.value === 'open') {
        server.cut(line);
        line.state.value = 'lost';
      } else {
        line.state.value = 'open';
        if (roll(2) === 0) {
          await settled(); // otherwise events arrive while the history is read
        }
      }
    }
  };
  for (let turn = 0, turns = 1 + roll(4); turn < turns; turn += 1) {
    server.begin(`question ${turn}`);
    for (let step = 0, steps = roll(8); step < steps; step += 1) {
      await breakMaybe();
      const kind = roll(4);
      if (kind === 0) {
        server.call(`call-${turn}-${step}`, roll(2) === 0);
      } else {
        server.say(kind === 1 ? 'reasoning' : 'delta', `w${step} `);
      }
    }
    await breakMaybe();
    server.end(roll(4) === 0);
    await breakMaybe();
  }
  if (line.state.value !== 'open') {
    line.state.value = 'open';
  }
  await settled();
  await settled();
  const [, late] = await open();
  const shown = [steady, broken, late].map(store => spoken(store.chat.messages.value));
  for (const store of [steady, broken, late]) {
    store.dispose();
  }
  return { steady: shown[0], broken: shown[1], late: shown[2] };
}

beforeEach(() => localStorage.clear());

describe('a connection that breaks anywhere', () => {
  it.each(Array.from({ length: 200 }, (_, index) => index + 1))(
    'leaves the same messages (seed %i)',
    async seed => {
      const { steady, broken, late } = await converse(seed);
      expect(broken).toEqual(steady);
      expect(late).toEqual(steady);
      expect(steady.length).toBeGreaterThan(1);
      expect(steady.some(line => line.includes('…'))).toBe(false);
    }
  );
});
