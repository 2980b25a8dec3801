/** What the model thought before it spoke: one line, folded. */
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { t } from '../../i18n';
import { Markdown } from '../../markdown/markdown';
import type { ReasoningPart } from '../../store/types';
import { Icon } from '../icon';
import { memo } from './memo';
import { durationWords } from './words';

export const Reasoning = memo(function Reasoning({ part, live }: { part: ReasoningPart; live: boolean }): VNode {
  const [open, setOpen] = useState(false);
  const seconds = part.seconds.value;
  const thinking = live && seconds === undefined;
  return (
    <div class="cc-reasoning">
      <button type="button" class="cc-row-line" aria-expanded={open} onClick={() => setOpen(!open)}>
        <Icon name={open ? 'caret-down' : 'caret-right'} />
        <span>{thinking ? t('Thinking…') : thoughtWords(seconds)}</span>
      </button>
      {open && (
        <div class="cc-reasoning-text">
          <Markdown text={part.text} live={thinking} />
        </div>
      )}
    </div>
  );
});

function thoughtWords(seconds: number | undefined): string {
  if (seconds === undefined || seconds < 1) return t('Thought');
  return t('Thought for {duration}', { duration: durationWords(Math.round(seconds)) });
}
