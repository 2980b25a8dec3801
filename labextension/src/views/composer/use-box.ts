/** How the box behaves: it grows with its text up to eight lines, and what Enter does is the person's choice. */
import { useEffect, useLayoutEffect, useState } from 'preact/hooks';
import type { Host } from '../../host';

const LINES = 8;

export function useSendWithEnter(host: Host): boolean {
  const [options, setOptions] = useState(() => host.options?.() ?? {});
  useEffect(() => host.onOptions?.(setOptions), [host]);
  return options.sendWithEnter !== false;
}

export function useAutosize(box: { current: HTMLTextAreaElement | null }, text: string): void {
  const fit = (): void => {
    const node = box.current;
    if (!node) {
      return;
    }
    const style = getComputedStyle(node);
    const line = parseFloat(style.lineHeight) || 20;
    const most = line * LINES + (parseFloat(style.paddingTop) || 0) + (parseFloat(style.paddingBottom) || 0);
    node.style.height = 'auto';
    node.style.overflowY = node.scrollHeight > most ? 'auto' : 'hidden';
    node.style.height = `${Math.min(node.scrollHeight, most)}px`;
  };
  useLayoutEffect(fit, [text]);
  useEffect(() => {
    const node = box.current;
    if (!node || typeof ResizeObserver === 'undefined') {
      return undefined;
    }
    let width = node.clientWidth;
    const watch = new ResizeObserver(() => {
      if (node.clientWidth !== width) {
        width = node.clientWidth; // lines break elsewhere now; a change of the height is our own
        fit();
      }
    });
    watch.observe(node);
    return () => watch.disconnect();
  }, []);
}
