import { effect, signal } from '@preact/signals';
import { describe, expect, it } from 'vitest';
import { adopted } from '../../src/adopted';
import type { ConnectionState } from '../../src/transport';
import { FakeTransport } from '../fake-transport';

/** A signal as another copy of the library makes it: effects of this copy do not see it change. */
function foreign<T>(first: T) {
  const hidden = signal(first);
  return {
    peek: () => hidden.peek(),
    get value() {
      return hidden.peek();
    },
    set value(next: T) {
      hidden.value = next;
    },
    subscribe: (hear: (value: T) => void) => hidden.subscribe(hear)
  };
}

describe('a transport of another bundle', () => {
  it('tells its state to effects of this one until it is disposed of', () => {
    const theirs = new FakeTransport();
    const state = foreign<ConnectionState>('connecting');
    Object.assign(theirs, { state });
    const ours = adopted(theirs);
    const seen: ConnectionState[] = [];
    effect(() => void seen.push(ours.state.value));

    state.value = 'open';
    expect(seen).toEqual(['connecting', 'open']);

    ours.dispose();
    state.value = 'lost';
    expect(seen).toEqual(['connecting', 'open']);
    expect(theirs.disposed).toBe(true);
  });

  it('carries frames both ways', () => {
    const theirs = new FakeTransport();
    const ours = adopted(theirs);
    const heard: unknown[] = [];
    ours.onEvent(event => heard.push(event));
    expect(ours.send({ type: 'ping' })).toBe(true);
    theirs.emit({ event: 'pong' });
    expect(theirs.sent).toEqual([{ type: 'ping' }]);
    expect(heard).toEqual([{ event: 'pong' }]);
  });
});
