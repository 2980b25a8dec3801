/** Ids that stay different between several panels, and between the two bundles, on one page. */
import { useState } from 'preact/hooks';

const BUNDLE = Math.random().toString(36).slice(2, 7);
let count = 0;

export function useUnique(): string {
  const [id] = useState(() => `cc-${BUNDLE}-${++count}`);
  return id;
}
