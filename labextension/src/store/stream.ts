/**
 * Streamed words on their way into signals: collected, and written once for each picture that the browser shows.
 * Words after a pause do not wait for the next picture. A hidden page draws none, so a timer stands by.
 */
import { batch, type Signal } from '@preact/signals';

const HIDDEN_MS = 16;
/** Longer than a picture takes, so that a fast stream still writes once for each. */
const PAUSE_MS = 25;
/** For a page that is hidden after the frame was asked for, or that draws none. */
const LATEST_MS = 250;

export class Stream {
  private readonly waiting = new Map<Signal<string>, string[]>();
  private frame: number | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  /** `performance.now()` of the last writing. */
  private written = -Infinity;

  append(target: Signal<string>, text: string): void {
    const pieces = this.waiting.get(target);
    if (pieces) {
      pieces.push(text);
    } else {
      this.waiting.set(target, [text]);
    }
    this.schedule();
  }

  /** Write now what was collected. */
  flush(): void {
    this.unschedule();
    if (this.waiting.size === 0) {
      return;
    }
    this.written = performance.now();
    const entries = [...this.waiting];
    this.waiting.clear();
    batch(() => {
      for (const [target, pieces] of entries) {
        target.value += pieces.join('');
      }
    });
  }

  /** Forget what was collected. */
  clear(): void {
    this.unschedule();
    this.waiting.clear();
  }

  private schedule(): void {
    if (this.timer !== undefined) {
      return;
    }
    if (performance.now() - this.written > PAUSE_MS) {
      this.written = performance.now();
      queueMicrotask(() => this.flush()); // what comes in the same message joins it
      return;
    }
    const draws = typeof requestAnimationFrame === 'function' && globalThis.document?.visibilityState === 'visible';
    if (draws) {
      this.frame = requestAnimationFrame(() => this.flush());
    }
    this.timer = setTimeout(() => this.flush(), draws ? LATEST_MS : HIDDEN_MS);
  }

  private unschedule(): void {
    if (this.frame !== undefined) {
      cancelAnimationFrame(this.frame);
    }
    clearTimeout(this.timer);
    this.frame = this.timer = undefined;
  }
}
