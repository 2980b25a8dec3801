/** A call's arguments as a small tree; hidden characters are written out. */
import type { VNode } from 'preact';
import { revealHidden } from '../../markdown/hidden';
import { tn } from '../../i18n';
import { BoundedText } from './bounded-text';

const MOST = 50;
const DEEPEST = 6;

export function ArgumentTree({ value, depth = 0 }: { value: object; depth?: number }): VNode {
  const entries = Object.entries(value) as [string, unknown][];
  const left = entries.length - MOST;
  return (
    <ul class="cc-tree">
      {entries.slice(0, MOST).map(([name, inner]) => (
        <li key={name}>
          <span class="cc-tree-name">{revealHidden(name.slice(0, 200))}</span> <Leaf value={inner} depth={depth} />
        </li>
      ))}
      {left > 0 && <li class="cc-dim">{tn('{count} more', '{count} more', left)}</li>}
    </ul>
  );
}

function Leaf({ value, depth }: { value: unknown; depth: number }): VNode {
  if (typeof value === 'object' && value !== null && depth < DEEPEST && Object.keys(value).length > 0) {
    return <ArgumentTree value={value} depth={depth + 1} />;
  }
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return (
    <span class="cc-tree-value">
      <BoundedText text={revealHidden(text)} limit={2_000} />
    </span>
  );
}

/** What a call is about, for its one line: what is looked for or run, else where, else everything. */
export function argumentLine(values: Readonly<Record<string, unknown>>): string {
  const telling = ['pattern', 'query', 'command', 'path', 'url', 'code', 'name', 'content'];
  const named = telling.map(name => values[name]).find(value => typeof value === 'string' && value !== '');
  const empty = Object.keys(values).length === 0;
  const line = typeof named === 'string' ? named.slice(0, 400) : empty ? '' : JSON.stringify(values).slice(0, 400);
  return revealHidden(line.replace(/\s+/g, ' ').trim()).slice(0, 300);
}
