import { afterEach, describe, expect, it, vi } from 'vitest';
import { findBridge, publishBridge, type Bridge } from '../../src/transports/bridge';
import { CommTransport, type CommModel } from '../../src/transports/comm';
import { FakeTransport } from '../fake-transport';

/** The kernel's end of the widget. */
function kernel() {
  const sent: Record<string, unknown>[] = [];
  const hearers = new Map<(content: unknown) => void, string>();
  const model: CommModel = {
    send: content => void sent.push(content as Record<string, unknown>),
    on: (event, hear) => void hearers.set(hear, event),
    off: (_event, hear) => void hearers.delete(hear)
  };
  const tell = (wanted: string, content?: unknown): void =>
    hearers.forEach((event, hear) => event === wanted && hear(content));
  return { sent, model, say: (content: unknown) => tell('msg:custom', content), tell };
}

afterEach(() => vi.useRealTimers());

describe('the way through the kernel', () => {
  it('greets, carries frames and says goodbye', () => {
    const { sent, model, say } = kernel();
    const transport = new CommTransport(model);
    expect(transport.send({ type: 'ping' })).toBe(false);
    say({ kind: 'state', state: 'open' });
    expect(transport.state.value).toBe('open');
    const heard: unknown[] = [];
    transport.onEvent(event => heard.push(event));
    say({ kind: 'event', event: { event: 'pong' } });
    expect(transport.send({ type: 'ping' })).toBe(true);
    transport.dispose();
    expect(heard).toEqual([{ event: 'pong' }]);
    const view = sent[0]?.view;
    expect(sent).toEqual([
      { kind: 'hello', view },
      { kind: 'action', action: { type: 'ping' } },
      { kind: 'bye', view }
    ]);
  });

  it('answers requests by their number', async () => {
    const { sent, model, say } = kernel();
    const transport = new CommTransport(model);
    const [good, none, bad] = ['a', 'b', 'c'].map(path => transport.request('GET', path));
    const ids = sent.slice(1).map(({ id }) => id);
    expect(sent.slice(1).map(({ path }) => path)).toEqual(['a', 'b', 'c']);
    expect(new Set(ids).size).toBe(3);
    say({ kind: 'answer', id: ids[2], status: 404, body: { code: 'not_found', detail: 'No.' } });
    say({ kind: 'answer', id: ids[1], status: 204, body: null });
    say({ kind: 'answer', id: ids[0], status: 200, body: { x: 1 } });
    expect(await good).toEqual({ x: 1 });
    expect(await none).toBeUndefined();
    await expect(bad).rejects.toMatchObject({ code: 'not_found', status: 404 });
    transport.dispose();
  });

  it('gives each of two views of a widget its own answers', async () => {
    const { sent, model, say } = kernel();
    const views = [new CommTransport(model), new CommTransport(model)];
    const asked = views.map((view, index) => view.request('GET', `${index}`));
    for (const { id, path } of sent.filter(({ kind }) => kind === 'request').reverse()) {
      say({ kind: 'answer', id, status: 200, body: path });
    }
    expect(await Promise.all(asked)).toEqual(['0', '1']);
    views.forEach(view => view.dispose());
    const named = (kind: string) => sent.filter(message => message.kind === kind).map(({ view }) => view);
    expect(named('bye')).toEqual(named('hello'));
    expect(new Set(named('hello')).size).toBe(2);
  });

  it('tells the kernel that a request is cancelled', async () => {
    const { sent, model } = kernel();
    const transport = new CommTransport(model);
    const ending = new AbortController();
    const asked = transport.request('GET', 'a', undefined, ending.signal);
    ending.abort();
    await expect(asked).rejects.toMatchObject({ code: 'aborted' });
    expect(sent.at(-1)).toEqual({ kind: 'cancel', id: sent.find(({ kind }) => kind === 'request')?.id });
    transport.dispose();
  });

  it('is lost soon after a sign that the kernel was restarted, unless the kernel answers', () => {
    vi.useFakeTimers();
    const { sent, model, say, tell } = kernel();
    const transport = new CommTransport(model);
    say({ kind: 'state', state: 'open' });
    tell('comm_live_update');
    expect(sent.filter(({ kind }) => kind === 'hello')).toHaveLength(2);
    say({ kind: 'state', state: 'open' });
    vi.advanceTimersByTime(2_000);
    expect(transport.state.value).toBe('open');
    tell('comm_live_update');
    vi.advanceTimersByTime(2_000);
    expect(transport.state.value).toBe('lost');
    expect(transport.problem.value).toContain('restarted');
    transport.dispose();
    tell('comm_live_update');
    expect(sent.at(-1)).toMatchObject({ kind: 'bye' });
  });

  it('is lost when the kernel is silent, and greets it again', () => {
    vi.useFakeTimers();
    const { sent, model, say } = kernel();
    const transport = new CommTransport(model);
    say({ kind: 'state', state: 'open' });
    void transport.request('GET', 'a').catch(() => undefined);
    vi.advanceTimersByTime(10_000);
    expect(transport.state.value).toBe('lost');
    expect(transport.problem.value).toMatch(/kernel/);
    expect(sent.at(-1)).toEqual(sent[0]);
    say({ kind: 'state', state: 'open' });
    expect([transport.state.value, transport.problem.value]).toEqual(['open', undefined]);
    transport.dispose();
  });
});

describe('the bridge', () => {
  it('is found by its version and shape', () => {
    const bridge: Bridge = {
      version: 1,
      connect: () => new FakeTransport(),
      host: { kind: 'cell', language: 'en' }
    };
    expect(findBridge()).toBeUndefined();
    const takeBack = publishBridge(bridge);
    expect(findBridge()).toBe(bridge);
    publishBridge({ ...bridge, version: 2 } as unknown as Bridge);
    expect(findBridge()).toBeUndefined();
    publishBridge(bridge);
    takeBack();
    expect(findBridge()).toBeUndefined();
  });
});
