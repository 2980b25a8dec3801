/** What an answer is made of, in its order; many finished calls in a row are one line. */
import type { ComponentChildren, VNode } from 'preact';
import { useState } from 'preact/hooks';
import { tn } from '../../i18n';
import { Markdown } from '../../markdown/markdown';
import type { Chat, Part, ToolPart } from '../../store/types';
import { Icon } from '../icon';
import { memo } from './memo';
import { Reasoning } from './reasoning';
import { ToolRow } from './tool-row';

/** From this many finished calls in a row on they are folded. */
const FOLD = 10;

interface PartsProps {
  parts: readonly Part[];
  running: boolean;
  chat: Chat;
}

export const Parts = memo(function Parts({ parts, running, chat }: PartsProps): VNode {
  const shown: VNode[] = [];
  for (let at = 0; at < parts.length;) {
    const steps = finishedFrom(parts, at);
    if (steps.length >= FOLD) {
      shown.push(
        <Steps key={`steps ${steps[0].key}`} steps={steps}>
          {steps.map(part => (
            <ToolRow key={part.key} part={part} chat={chat} />
          ))}
        </Steps>
      );
      at += steps.length;
    } else {
      shown.push(one(parts[at], running && at === parts.length - 1, chat));
      at += 1;
    }
  }
  return <div class="cc-parts">{shown}</div>;
});

function finishedFrom(parts: readonly Part[], from: number): ToolPart[] {
  const steps: ToolPart[] = [];
  for (let at = from; at < parts.length; at += 1) {
    const part = parts[at];
    if (part.kind !== 'tool' || !['ok', 'failed'].includes(part.state.value.status)) break;
    steps.push(part);
  }
  return steps;
}

function one(part: Part, live: boolean, chat: Chat): VNode {
  switch (part.kind) {
    case 'text':
      return <Markdown key={part.key} text={part.text} live={live} />;
    case 'reasoning':
      return <Reasoning key={part.key} part={part} live={live} />;
    case 'tool':
      return <ToolRow key={part.key} part={part} chat={chat} />;
    case 'notice':
      return (
        <p key={part.key} class="cc-turn-notice" dir="auto">
          {part.text}
        </p>
      );
  }
}

function Steps({ steps, children }: { steps: readonly ToolPart[]; children: ComponentChildren }): VNode {
  const [open, setOpen] = useState(false);
  const failed = steps.filter(step => step.state.value.status === 'failed').length;
  return (
    <div class="cc-steps">
      <button type="button" class="cc-row-line" aria-expanded={open} onClick={() => setOpen(!open)}>
        <Icon name={open ? 'caret-down' : 'caret-right'} />
        <Icon name={failed > 0 ? 'error' : 'check'} />
        <span>{tn('{count} step', '{count} steps', steps.length)}</span>
        {failed > 0 && <span class="cc-dim">{tn('{count} failed', '{count} failed', failed)}</span>}
      </button>
      {open && <div class="cc-steps-rows">{children}</div>}
    </div>
  );
}
