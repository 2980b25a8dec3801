import { beforeEach, describe, expect, it } from 'vitest';
import { createStore } from '../../src/store/store';
import type { AssistantMessage, ModelChoice, ToolPart, UserMessage } from '../../src/store/types';
import { ApiError } from '../../src/transport';
import { FakeTransport, settled } from '../fake-transport';
import { spoken } from './spoken';

const CHAT = 'c1';
const llm: ModelChoice = { provider: 'ollama', model: 'm' };

beforeEach(() => localStorage.clear());

async function opened(messages: unknown[] = [], attached: FakeTransport['attached'] = {}) {
  const transport = new FakeTransport({ [`GET sessions/${CHAT}/messages`]: () => ({ messages }) });
  transport.attached = attached;
  const store = createStore(transport, { chatId: CHAT });
  await settled();
  let seq = attached?.last_seq ?? 0;
  const emit = (event: string, fields: Record<string, unknown> = {}): void =>
    transport.emit({ event, chat_id: CHAT, seq: (seq += 1), turn_id: 't1', stream_id: 1, ...fields });
  return { transport, store, chat: store.chat, emit, see: () => spoken(store.chat.messages.value) };
}

const refOf = (transport: FakeTransport): string | undefined => transport.last('message')?.metadata?.ref;

describe('a turn', () => {
  it('goes from the sent message to its answer', async () => {
    const { transport, chat, emit, see } = await opened();
    expect(chat.send('hello')).toBe(true);
    expect(see()).toEqual(['You(sending): hello']);
    expect(chat.running.value).toBe(true);
    emit('session_updated', { title: 'Hello', updated_at: '2026-01-01T00:00:00Z', turn_id: undefined });
    emit('turn_started', { llm, user_cursor: 1, ref: refOf(transport) });
    emit('reasoning', { text: 'hm' });
    emit('delta', { text: 'Hi ' });
    emit('delta', { text: 'you' });
    emit('stream_end');
    emit('usage', { prompt_tokens: 9, completion_tokens: 2, context_window: 100, estimated: false });
    emit('done', { duration_sec: 1, stop_reason: 'answered', usage: {}, tool_calls: 0 });
    expect(see()).toEqual(['You(sent): hello', 'CashCode(answered): <hm> Hi you']);
    const answer = chat.messages.value[1] as AssistantMessage;
    expect(answer.usage.value?.contextWindow).toBe(100);
    expect(chat.title.value).toBe('Hello');
    expect(chat.running.value).toBe(false);
    expect(chat.model.value).toEqual(llm);
  });

  it('asks for consent and shows the result of the call', async () => {
    const { transport, chat, emit } = await opened();
    chat.send('run');
    emit('turn_started', { llm, user_cursor: 1, ref: refOf(transport) });
    const call = { call_id: 'x', tool_name: 'exec', arguments: { command: 'ls' }, risk: 'execute' };
    emit('tool_call', call);
    emit('approval_request', { ...call, preview: 'ls', expires_at: 'later' });
    const tool = (): ToolPart => (chat.messages.value[1] as AssistantMessage).parts.value[0] as ToolPart;
    expect(tool().state.value.status).toBe('asking');
    chat.decide('x', 'allow', 'turn');
    expect(transport.last('approval')).toMatchObject({ call_id: 'x', decision: 'allow', scope: 'turn' });
    emit('approval_resolved', { call_id: 'x', decision: 'allow', scope: 'turn', reason: 'user' });
    expect(tool().state.value).toMatchObject({ status: 'running', approval: { decision: 'allow' } });
    emit('tool_result', {
      call_id: 'x',
      tool_name: 'exec',
      ok: true,
      result: 'a',
      truncated: false,
      duration_sec: 2
    });
    expect(tool().state.value).toMatchObject({ status: 'ok', result: 'a', durationSec: 2 });
  });

  it('takes a steer into its flow and goes on behind it', async () => {
    const { transport, chat, emit, see } = await opened();
    chat.send('count');
    emit('turn_started', { llm, user_cursor: 1, ref: refOf(transport) });
    emit('delta', { text: 'one' });
    chat.send('in French');
    expect(transport.last('steer')).toEqual({ type: 'steer', chat_id: CHAT, content: 'in French' });
    emit('steered');
    emit('delta', { text: '\n\ndeux' });
    emit('done', { duration_sec: 1, stop_reason: 'answered', usage: {}, tool_calls: 0 });
    expect(see()).toEqual([
      'You(sent): count',
      'CashCode(): one',
      'You(sent): in French',
      'CashCode(answered): deux'
    ]);
  });

  it('begins with a steer that the turn before did not take any more, which then joined nothing', async () => {
    const { transport, chat, emit, see } = await opened();
    chat.send('count');
    emit('turn_started', { llm, user_cursor: 1, ref: refOf(transport) });
    emit('delta', { text: 'one' });
    chat.send('in French');
    emit('steered');
    const steer = chat.messages.value[2] as UserMessage;
    expect(steer.steer.value).toBe(true);
    emit('done', { duration_sec: 1, stop_reason: 'cancelled', usage: {}, tool_calls: 0 });
    transport.answer(`GET sessions/${CHAT}/messages`, {
      messages: [{ cursor: 5, role: 'user', content: 'in French' }]
    });
    emit('turn_started', { llm, user_cursor: 5, turn_id: 't2' });
    await settled();
    expect(see()).toEqual([
      'You(sent): count',
      'CashCode(cancelled): one',
      'You(sent): in French',
      'CashCode(…): '
    ]);
    expect(chat.messages.value[2]).toBe(steer);
    expect(steer.steer.value).toBe(false);
  });

  it('knows a steer that began it also when the history came first', async () => {
    const { transport, chat, emit } = await opened();
    chat.send('count');
    emit('turn_started', { llm, user_cursor: 1, ref: refOf(transport) });
    emit('delta', { text: 'one' });
    chat.send('in French');
    emit('steered');
    const steer = chat.messages.value[2] as UserMessage;
    emit('done', { duration_sec: 1, stop_reason: 'cancelled', usage: {}, tool_calls: 0 });
    transport.answer(`GET sessions/${CHAT}/messages`, {
      messages: [
        { cursor: 1, role: 'user', content: 'count' },
        { cursor: 2, role: 'assistant', content: 'one' },
        { cursor: 5, role: 'user', content: 'in French' }
      ]
    });
    transport.attached = { last_seq: 4 };
    await chat.reload();
    expect(steer).toMatchObject({ cursor: 5, steer: { value: true } });
    emit('turn_started', { llm, user_cursor: 5, turn_id: 't2' });
    expect(steer.steer.value).toBe(false);
    expect(chat.messages.value.filter(message => message === steer)).toHaveLength(1);
  });

  it('ends with its error', async () => {
    const { transport, chat, emit, see } = await opened();
    chat.send('x');
    emit('turn_started', { llm, user_cursor: 1, ref: refOf(transport) });
    emit('error', { code: 'llm_auth', detail: 'no', retryable: false });
    expect(see()[1]).toBe('CashCode(llm_auth): ');
    expect(chat.problem.value).toBeUndefined();
    expect(chat.running.value).toBe(false);
  });

  it('ignores events and fields that are younger than the panel', async () => {
    const { transport, chat, emit, see } = await opened();
    chat.send('x');
    emit('turn_started', { llm, user_cursor: 1, ref: refOf(transport), colour: 'red' });
    emit('hologram', { text: 'no' });
    emit('delta', { text: 'ok' });
    expect(see()[1]).toBe('CashCode(…): ok');
  });

  it('writes a long answer once for each frame', async () => {
    const { transport, chat, emit } = await opened();
    chat.send('x');
    emit('turn_started', { llm, user_cursor: 1, ref: refOf(transport) });
    emit('delta', { text: 'a' });
    const part = (chat.messages.value[1] as AssistantMessage).parts.value[0];
    let writes = -1;
    const stop = part.kind === 'text' ? part.text.subscribe(() => void (writes += 1)) : () => undefined;
    for (let count = 0; count < 20_000; count += 1) {
      emit('delta', { text: 'b' });
    }
    expect(writes).toBe(0);
    emit('stream_end');
    expect(writes).toBe(1);
    stop();
    expect(part.kind === 'text' && part.text.value.length).toBe(20_001);
  });
});

describe('what was sent', () => {
  it('waits in line behind a running turn and is answered after it', async () => {
    const { transport, chat, emit, see } = await opened();
    chat.send('first');
    emit('turn_started', { llm, user_cursor: 1, ref: refOf(transport) });
    chat.send('second', { skills: [{ name: 's' }] });
    const ref = refOf(transport);
    emit('queued', { position: 1, ref });
    expect(see()).toEqual(['You(sent): first', 'CashCode(…): ', 'You(queued): second']);
    emit('done', { duration_sec: 1, stop_reason: 'answered', usage: {}, tool_calls: 0 });
    emit('turn_started', { llm, user_cursor: 5, ref, turn_id: 't2' });
    expect(see().slice(2)).toEqual(['You(sent): second', 'CashCode(…): ']);
  });

  it('is unsent when the server never heard of it, and goes out again only on demand', async () => {
    const { transport, chat, see } = await opened();
    chat.send('lost');
    transport.state.value = 'lost';
    expect(chat.send('not now')).toBe(false);
    transport.state.value = 'open';
    await settled();
    expect(see()).toEqual(['You(unsent): lost']);
    expect(transport.sent.filter(action => action.type === 'message')).toHaveLength(1);
    chat.resend(chat.messages.value[0].key);
    expect(transport.sent.filter(action => action.type === 'message')).toHaveLength(2);
    expect(see()).toEqual(['You(sending): lost']);
  });

  it('is found in the history when only its acknowledgement was lost', async () => {
    const { transport, chat, see } = await opened();
    chat.send('there');
    transport.state.value = 'lost';
    transport.answer(`GET sessions/${CHAT}/messages`, {
      messages: [
        { cursor: 1, role: 'user', content: 'there' },
        { cursor: 2, role: 'assistant', content: 'yes' }
      ]
    });
    transport.attached = { last_seq: 7 };
    const key = chat.messages.value[0].key;
    transport.state.value = 'open';
    await settled();
    expect(see()).toEqual(['You(sent): there', 'CashCode(answered): yes']);
    expect(chat.messages.value[0].key).toBe(key);
  });

  it('comes back when the server refuses it', async () => {
    const { transport, chat, see } = await opened();
    chat.send('x');
    transport.emit({
      event: 'error',
      chat_id: CHAT,
      code: 'llm_not_configured',
      detail: 'none',
      retryable: false,
      ref: refOf(transport)
    });
    expect(see()).toEqual(['You(unsent): x']);
    expect(chat.problem.value?.code).toBe('llm_not_configured');
    expect(chat.running.value).toBe(false);
  });

  it('carries skills, connectors, context and pictures as metadata', async () => {
    const { transport, chat } = await opened();
    const many = Array.from({ length: 7 }, (_, index) => ({ name: `s${index}` }));
    chat.send('x', {
      skills: many,
      connectors: [{ server: 'a' }, { server: 'b' }],
      context: [{ kind: 'cell', label: 'cell 1', text: 'x = 1' }],
      images: [{ label: 'p', dataUrl: 'data:image/png;base64,AA' }]
    });
    expect(transport.last('message')?.metadata).toMatchObject({
      mentioned_skills: many,
      selected_mcp_connectors: [{ server: 'a' }],
      context: [
        { kind: 'cell', label: 'cell 1', text: 'x = 1' },
        { kind: 'image', label: 'p', text: '', data_url: 'data:image/png;base64,AA' }
      ]
    });
    expect((chat.messages.value[0] as UserMessage).context[0]).toEqual({ kind: 'cell', label: 'cell 1', chars: 5 });
  });
});

describe('two tabs', () => {
  it("shows the other tab's message above its answer", async () => {
    const { transport, emit, see } = await opened();
    transport.answer(`GET sessions/${CHAT}/messages`, {
      messages: [{ cursor: 1, role: 'user', content: 'from there' }]
    });
    emit('turn_started', { llm, user_cursor: 1, ref: 'theirs' });
    emit('delta', { text: 'hi' });
    await settled();
    emit('stream_end');
    expect(see()).toEqual(['You(sent): from there', 'CashCode(…): hi']);
  });
});

describe('the history', () => {
  it('keeps the order of words and calls, and tells how a turn ended that has no answer', async () => {
    const { see } = await opened([
      { cursor: 1, role: 'user', content: 'a', at: '2026-01-01 10:00' },
      {
        cursor: 2,
        role: 'assistant',
        content: 'before\n\nafter',
        tool_calls: [{ call_id: 'k', tool_name: 'grep', ok: true, result: 'r' }],
        parts: [
          { kind: 'text', text: 'before' },
          { kind: 'call', call_id: 'k' },
          { kind: 'text', text: 'after' }
        ]
      },
      { cursor: 5, role: 'user', content: 'b', outcome: { stop_reason: 'error', error: 'llm_timeout' } }
    ]);
    expect(see()).toEqual([
      'You(sent): a',
      'CashCode(answered): before [grep ok r] after',
      'You(sent): b',
      'CashCode(llm_timeout): '
    ]);
  });

  it('replaces what it has of a running turn by the events of the turn', async () => {
    const { emit, see, chat } = await opened(
      [
        { cursor: 1, role: 'user', content: 'a' },
        { cursor: 2, role: 'assistant', content: 'part' }
      ],
      { running: true, last_seq: 0 }
    );
    emit('turn_started', { llm, user_cursor: 1 });
    emit('delta', { text: 'part and more' });
    emit('stream_end');
    expect(see()).toEqual(['You(sent): a', 'CashCode(…): part and more']);
    expect(chat.running.value).toBe(true);
  });

  it('comes in pages and keeps what is shown', async () => {
    const page = (from: number) =>
      Array.from({ length: 50 }, (_, index) => ({
        cursor: from + index,
        role: 'user',
        content: `${from + index}`
      }));
    const { transport, chat } = await opened(page(51));
    expect(chat.older.value).toBe('some');
    const [first] = chat.messages.value;
    transport.answer(`GET sessions/${CHAT}/messages?before=51&limit=50`, { messages: page(1) });
    await chat.loadOlder();
    expect(chat.messages.value).toHaveLength(100);
    expect(chat.messages.value[50]).toBe(first);
    transport.answer(`GET sessions/${CHAT}/messages?before=1&limit=50`, { messages: [] });
    await chat.loadOlder();
    expect(chat.older.value).toBe('none');
  });

  it('of a chat that does not exist is empty', async () => {
    const store = createStore(new FakeTransport(), { chatId: 'nobody' });
    await settled();
    expect(store.chat.status.value).toBe('ready');
    expect(store.chat.messages.value).toEqual([]);
  });

  it('is not asked for while the chat was only made here, also after a reload of the page', async () => {
    const reload = async (attached = {}): Promise<[string, string[]]> => {
      const transport = new FakeTransport();
      transport.attached = attached;
      const store = createStore(transport);
      await settled();
      const asked = transport.asked.map(({ path }) => path).filter(path => path.includes('/messages'));
      store.dispose();
      return [store.chat.id.value, asked];
    };
    const [made, first] = await reload();
    expect([first, await reload()]).toEqual([[], [made, []]]);
    // Another panel began it: the server knows of events.
    expect((await reload({ last_seq: 7 }))[1]).toEqual([`sessions/${made}/messages?limit=50`]);
  });

  it('is asked for once something was sent', async () => {
    const first = createStore(new FakeTransport());
    await settled();
    first.chat.send('hello');
    const transport = new FakeTransport();
    createStore(transport);
    await settled();
    expect(transport.asked.map(({ path }) => path)).toContain(`sessions/${first.chat.id.value}/messages?limit=50`);
  });

  it('can be asked for again after a failure', async () => {
    const transport = new FakeTransport({ 'GET sessions/c1/messages': new ApiError('storage', 'disk', 500) });
    const { chat } = createStore(transport, { chatId: CHAT });
    await settled();
    expect([chat.status.value, chat.loadError.value?.code]).toEqual(['failed', 'storage']);
    transport.answer('GET sessions/c1/messages', { messages: [] });
    await chat.reload();
    await settled();
    expect(chat.status.value).toBe('ready');
  });
});

describe('a server that was killed in the middle of an answer', () => {
  const asked = { cursor: 1, role: 'user', content: 'a' };
  const call = { call_id: 'k', tool_name: 'grep', arguments: {}, risk: 'read' };
  const stored = {
    cursor: 2,
    role: 'assistant',
    content: 'look',
    parts: [
      { kind: 'text', text: 'look' },
      { kind: 'call', call_id: 'k' }
    ],
    tool_calls: [{ ...call, ok: true, result: 'r' }]
  };

  /** What is shown when the new server has this of the turn that broke. */
  async function afterwards(history: unknown[], breaks: (emit: (event: string, fields?: object) => void) => void) {
    const all = await opened();
    const { transport, chat, emit } = all;
    chat.send('a');
    emit('turn_started', { llm, user_cursor: 1, ref: refOf(transport) });
    breaks(emit as (event: string, fields?: object) => void);
    const restart = async (messages: unknown[], facts: FakeTransport['attached'] = {}): Promise<void> => {
      transport.state.value = 'lost';
      transport.attached = facts;
      transport.answer(`GET sessions/${CHAT}/messages`, { messages });
      transport.state.value = 'open';
      await settled();
    };
    await restart(history);
    return { ...all, restart };
  }

  it('leaves what was said, and says that it is not complete', async () => {
    const { chat, see } = await afterwards([asked], emit => emit('delta', { text: 'half an' }));
    expect(see()).toEqual(['You(sent): a', 'CashCode(interrupted): half an']);
    const answer = chat.messages.value[1] as AssistantMessage;
    expect(answer.error.value).toMatchObject({
      detail: 'The server stopped before this answer was complete.',
      retryable: true
    });
    expect(chat.running.value).toBe(false);
  });

  it('says so where nothing had been said yet', async () => {
    const { see } = await afterwards([asked], () => undefined);
    expect(see()).toEqual(['You(sent): a', 'CashCode(interrupted): ']);
  });

  it('leaves a call that ran as one that failed', async () => {
    const { see } = await afterwards([asked], emit => emit('tool_call', call));
    expect(see()).toEqual(['You(sent): a', 'CashCode(interrupted): [grep failed ]']);
  });

  it('doubles nothing when the history has the turn’s first steps and, later, its end', async () => {
    const { see, restart } = await afterwards([asked, stored], emit => {
      emit('delta', { text: 'look' });
      emit('tool_call', call);
      emit('tool_result', { ...call, ok: true, result: 'r', truncated: false, duration_sec: 1 });
      emit('delta', { text: 'so it' });
    });
    const kept = ['You(sent): a', 'CashCode(interrupted): look [grep ok r] so it'];
    expect(see()).toEqual(kept);
    const interrupted = { ...stored, outcome: { stop_reason: 'interrupted' } };
    const next = [
      { cursor: 6, role: 'user', content: 'b' },
      { cursor: 7, role: 'assistant', content: 'B' }
    ];
    await restart([asked, interrupted, ...next], { last_seq: 900 });
    expect(see()).toEqual([...kept, 'You(sent): b', 'CashCode(answered): B']);
  });

  it('says so after a call whose result is the last that was stored', async () => {
    const { see } = await afterwards([asked, stored], emit => {
      emit('delta', { text: 'look' });
      emit('tool_call', call);
      emit('tool_result', { ...call, ok: true, result: 'r', truncated: false, duration_sec: 1 });
    });
    expect(see()).toEqual(['You(sent): a', 'CashCode(interrupted): look [grep ok r]']);
  });

  it('shows the whole answer when the server had stored it before', async () => {
    const whole = { cursor: 2, role: 'assistant', content: 'half an answer' };
    const { see } = await afterwards([asked, whole], emit => emit('delta', { text: 'half an' }));
    expect(see()).toEqual(['You(sent): a', 'CashCode(answered): half an answer']);
  });

  it('believes the history that the person had stopped it', async () => {
    const { see } = await afterwards([{ ...asked, outcome: { stop_reason: 'cancelled' } }], emit =>
      emit('delta', { text: 'half' })
    );
    expect(see()).toEqual(['You(sent): a', 'CashCode(cancelled): half']);
  });

  it('is told by the history to a panel that was opened later', async () => {
    const { see } = await opened([{ ...asked, outcome: { stop_reason: 'interrupted' } }]);
    expect(see()).toEqual(['You(sent): a', 'CashCode(interrupted): ']);
  });
});

describe('a retry', () => {
  it('opens the chat that the server made for it', async () => {
    const { transport, chat } = await opened([{ cursor: 1, role: 'user', content: 'a' }]);
    chat.retry(1, 'b');
    expect(transport.last('retry')).toEqual({ type: 'retry', chat_id: CHAT, from_cursor: 1, content: 'b' });
    transport.emit({ event: 'attached', chat_id: 'c2', running: true, last_seq: 0, title: 'T' });
    transport.emit({ event: 'turn_started', chat_id: 'c2', seq: 9, turn_id: 't2', llm, user_cursor: 1 });
    transport.answer('GET sessions/c2/messages', { messages: [{ cursor: 1, role: 'user', content: 'b' }] });
    await settled();
    expect(chat.id.value).toBe('c2');
    expect(spoken(chat.messages.value)).toEqual(['You(sent): b', 'CashCode(…): ']);
  });
});
