/** The time, once a second, for as long as somebody shows it. */
import { useEffect, useState } from 'preact/hooks';

/** `read()` again every second while `active`. */
export function useEverySecond(active: boolean, read: () => number): number {
  const [, tick] = useState(0);
  useEffect(() => {
    if (!active) return undefined;
    const timer = setInterval(() => tick(count => count + 1), 1000);
    return () => clearInterval(timer);
  }, [active]);
  return read();
}
