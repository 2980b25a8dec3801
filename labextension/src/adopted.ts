/**
 * A transport of another bundle. That bundle has a copy of the signals library of its own, and a view is not drawn
 * anew for signals of another copy; here they are told on by signals of this one.
 */
import { signal, type ReadonlySignal } from '@preact/signals';
import type { Transport } from './transport';

export function adopted(theirs: Transport): Transport {
  const [state, endState] = followed(theirs.state);
  const [problem, endProblem] = followed(theirs.problem);
  return {
    kind: theirs.kind,
    state,
    problem,
    send: action => theirs.send(action),
    onEvent: hear => theirs.onEvent(hear),
    request: (method, path, body, abort) => theirs.request(method, path, body, abort),
    reconnect: () => theirs.reconnect(),
    dispose: () => {
      endState();
      endProblem();
      theirs.dispose();
    }
  };
}

function followed<T>(theirs: ReadonlySignal<T>): [ReadonlySignal<T>, () => void] {
  const ours = signal(theirs.peek());
  return [ours, theirs.subscribe(value => (ours.value = value))];
}
