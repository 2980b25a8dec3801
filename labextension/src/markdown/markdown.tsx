/** An answer's Markdown, whole or while it grows: at most one render a frame, and only of its open end. */
import { effect } from '@preact/signals';
import type { ReadonlySignal } from '@preact/signals';
import type { VNode } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { CodeBlock } from './code-block';
import type { Block } from './blocks';
import { MathBlock, TextBlock } from './block-view';
import { withDefinitions } from './definitions';
import type { Definitions } from './definitions';
import { GrowingText } from './growing';

export interface MarkdownProps {
  text: ReadonlySignal<string>;
  /** More may come. */
  live: boolean;
}

/** Blocks that a long text shows in its first frame, and how many more each frame after it. */
const FIRST = 40;
const STEP = 20;

export function Markdown({ text, live }: MarkdownProps): VNode {
  const source = useFramed(text, live);
  const growing = useMemo(() => new GrowingText(), [text]);
  const { blocks, settled, definitions } = useMemo(() => growing.show(source, !live), [growing, source, live]);
  const count = useStepped(blocks.length);
  return (
    <div class={live ? 'cc-markdown cc-live' : 'cc-markdown'}>
      {blocks.slice(0, count).map((block, index) => view(block, index, index < settled, definitions))}
    </div>
  );
}

function view(block: Block, index: number, settled: boolean, definitions: Definitions): VNode {
  switch (block.kind) {
    case 'code':
      return <CodeBlock key={index} text={block.text} language={block.language} complete={settled} />;
    case 'math':
      return <MathBlock key={index} source={block.text} settled={settled} />;
    case 'markdown':
      return <TextBlock key={index} source={defined(block, definitions)} settled={settled} />;
  }
}

const known = new WeakMap<Block, { of: number; source: string }>();

/** A block's source with its definitions; they only ever get more. */
function defined(block: Block, definitions: Definitions): string {
  const before = known.get(block);
  if (before?.of === definitions.size) return before.source;
  const source = withDefinitions(block.source, definitions);
  known.set(block, { of: definitions.size, source });
  return source;
}

/** The signal's text, at most once a frame while it grows. */
function useFramed(text: ReadonlySignal<string>, live: boolean): string {
  const [shown, setShown] = useState(() => text.peek());
  useEffect(() => {
    let cancel: (() => void) | undefined;
    const stop = effect(() => {
      const now = text.value;
      cancel ??= nextFrame(() => {
        cancel = undefined;
        setShown(text.peek());
      });
      return void now;
    });
    return () => {
      stop();
      cancel?.();
    };
  }, [text]);
  // What is over is shown as it is, without waiting for a frame that a hidden page never gets.
  return live ? shown : text.peek();
}

/** Long texts come in steps, so that no frame has to make them all. */
function useStepped(total: number): number {
  const [count, setCount] = useState(FIRST);
  const waits = count < total;
  useEffect(() => {
    if (!waits) return undefined;
    return nextFrame(() => setCount(before => before + STEP));
  }, [waits, count]);
  return count;
}

/** The next frame, or soon in a page that is not shown. */
function nextFrame(work: () => void): () => void {
  if (document.hidden) {
    const timer = setTimeout(work, 100);
    return () => clearTimeout(timer);
  }
  const frame = requestAnimationFrame(work);
  return () => cancelAnimationFrame(frame);
}
