/** What a call is going to do: a command, or a change as lines that are added and removed. */
import type { VNode } from 'preact';
import { t } from '../../i18n';
import { revealHidden } from '../../markdown/hidden';
import { BoundedText } from './bounded-text';

const MOST_LINES = 500;

export function Preview({ text }: { text: string }): VNode {
  const shown = revealHidden(text);
  const lines = shown.split('\n');
  const isDiff = lines.some(line => /^(?:@@ |--- |\+\+\+ )/.test(line)) && lines.length <= MOST_LINES;
  return (
    <pre class="cc-preview" tabIndex={0} role="group" aria-label={t('Preview')}>
      {isDiff ? lines.map((line, index) => <DiffLine key={index} line={line} />) : <BoundedText text={shown} />}
    </pre>
  );
}

/** The mark in front says what the colour says. */
function DiffLine({ line }: { line: string }): VNode {
  const head = /^(?:--- |\+\+\+ |@@ )/.test(line);
  const kind = head ? 'head' : line.startsWith('+') ? 'added' : line.startsWith('-') ? 'removed' : 'kept';
  return <span class={`cc-diff-${kind}`}>{line === '' ? ' ' : line}</span>;
}
