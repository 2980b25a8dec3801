/**
 * Where the reader is. At the bottom the view follows what comes; anywhere else nothing above the reader's eye moves,
 * also when older messages come in above it.
 */
import { signal } from '@preact/signals';
import type { ReadonlySignal } from '@preact/signals';

/** So near to the bottom counts as at the bottom. */
const NEAR = 24;

export class Follow {
  private readonly state = signal(true);
  private box: HTMLElement | undefined;
  private lastTop = 0;
  private observer: ResizeObserver | undefined;

  /** True while the view goes along with the stream. */
  get following(): ReadonlySignal<boolean> {
    return this.state;
  }

  /** Watch this scrolling box and its content; the answer ends it. */
  watch(box: HTMLElement, content: HTMLElement): () => void {
    this.box = box;
    this.lastTop = box.scrollTop;
    if (typeof ResizeObserver === 'function') {
      this.observer = new ResizeObserver(() => this.settle());
      this.observer.observe(content);
      this.observer.observe(box);
    }
    this.settle();
    return () => {
      this.observer?.disconnect();
      this.box = undefined;
    };
  }

  /** The box was scrolled, by whomever: only going up leaves the bottom, growing content does not. */
  scrolled(): void {
    if (!this.box) return;
    const { scrollTop, scrollHeight, clientHeight } = this.box;
    const distance = scrollHeight - clientHeight - scrollTop;
    if (distance <= NEAR) this.state.value = true;
    else if (scrollTop < this.lastTop - 1) this.state.value = false;
    this.lastTop = scrollTop;
  }

  toLatest(): void {
    this.state.value = true;
    this.settle();
  }

  settle(): void {
    if (!this.box || !this.state.peek()) return;
    this.box.scrollTop = this.box.scrollHeight;
    this.lastTop = this.box.scrollTop;
  }

  /** Remember what the reader sees; the answer puts it back to the same place. */
  hold(list: HTMLElement | null): () => void {
    const box = this.box;
    if (!box || !list) return () => undefined;
    const top = box.getBoundingClientRect().top;
    const seen = [...list.children].find(row => row.getBoundingClientRect().bottom > top);
    const before = seen?.getBoundingClientRect().top ?? 0;
    return () => {
      if (!seen?.isConnected || this.state.peek()) return;
      box.scrollTop += seen.getBoundingClientRect().top - before;
      this.lastTop = box.scrollTop;
    };
  }
}
