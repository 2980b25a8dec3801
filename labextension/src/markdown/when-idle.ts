/** Work that may wait, one piece after another, each when the page has nothing better to do. */

const waiting = new Set<() => void>();
let asked = false;

/** Do `work` soon; the answer takes it back. */
export function whenIdle(work: () => void): () => void {
  waiting.add(work);
  ask();
  return () => waiting.delete(work);
}

function ask(): void {
  if (asked || waiting.size === 0) return;
  asked = true;
  // Safari has no idle callback.
  if (typeof requestIdleCallback === 'function') requestIdleCallback(next, { timeout: 500 });
  else setTimeout(next, 16);
}

function next(): void {
  asked = false;
  const [work] = waiting;
  if (!work) return;
  waiting.delete(work);
  try {
    work();
  } finally {
    ask();
  }
}
