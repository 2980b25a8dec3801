/** One tool call as one line that opens in place; a question to the person stands right below it. */
import type { VNode } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { t } from '../../i18n';
import { revealHidden } from '../../markdown/hidden';
import type { Chat, ToolPart, ToolState } from '../../store/types';
import { Icon } from '../icon';
import { ApprovalCard, decisionWords } from './approval-card';
import { ArgumentTree, argumentLine } from './argument-tree';
import { focusedElement } from './focus';
import { FullResult } from './full-result';
import { memo } from './memo';
import { useEverySecond } from './now';
import { durationWords } from './words';

export const ToolRow = memo(function ToolRow({ part, chat }: { part: ToolPart; chat: Chat }): VNode {
  const [open, setOpen] = useState(false);
  const group = useRef<HTMLDivElement>(null);
  const line = useRef<HTMLButtonElement>(null);
  const state = part.state.value;
  const asking = state.status === 'asking' && state.approval?.decision === undefined ? state.approval : undefined;
  // When the card goes away with the focus in it, its row gets the focus. While this renders the card still stands.
  const asked = useRef(false);
  const card = group.current?.querySelector('.cc-approval');
  const bereft = asked.current && !asking && (card?.contains(focusedElement()) ?? false);
  useLayoutEffect(() => {
    asked.current = asking !== undefined;
    if (bereft) line.current?.focus({ preventScroll: true });
  });
  const name = revealHidden(part.name);
  return (
    <div
      class={`cc-tool cc-tool-${state.status}`}
      role="group"
      aria-label={t('Tool call {name}', { name })}
      aria-busy={state.status === 'running'}
      ref={group}
    >
      <button type="button" class="cc-row-line" aria-expanded={open} onClick={() => setOpen(!open)} ref={line}>
        <Icon name={open ? 'caret-down' : 'caret-right'} />
        <StatusMark state={state} />
        <span class="cc-tool-name">{name}</span>
        <span class="cc-tool-arguments">{argumentLine(part.arguments)}</span>
        <Duration part={part} state={state} />
      </button>
      {asking && <ApprovalCard part={part} approval={asking} chat={chat} />}
      {state.approval?.decision && <p class="cc-tool-decision">{decisionWords(state.approval)}</p>}
      {open && <Details part={part} state={state} chat={chat} />}
    </div>
  );
});

function StatusMark({ state }: { state: ToolState }): VNode {
  switch (state.status) {
    case 'running':
      return <Mark words={t('running')} mark={<span class="cc-spinner" />} />;
    case 'asking':
      return <Mark words={t('waits for your answer')} mark={<Icon name="warning" />} />;
    case 'ok':
      return <Mark words={t('done')} mark={<Icon name="check" />} />;
    case 'failed':
      return <Mark words={t('failed')} mark={<Icon name="error" />} />;
  }
}

function Mark({ words, mark }: { words: string; mark: VNode }): VNode {
  return (
    <span class="cc-tool-mark" title={words}>
      {mark}
      <span class="cc-hidden">{words}</span>
    </span>
  );
}

function Duration({ part, state }: { part: ToolPart; state: ToolState }): VNode | null {
  const runs = state.status === 'running' && part.startedAt !== undefined;
  const elapsed = useEverySecond(runs, () => Math.floor((performance.now() - (part.startedAt ?? 0)) / 1000));
  const seconds = runs ? (elapsed >= 1 ? elapsed : undefined) : state.durationSec;
  return seconds === undefined ? null : <span class="cc-tool-duration">{durationWords(seconds)}</span>;
}

function Details({ part, state, chat }: { part: ToolPart; state: ToolState; chat: Chat }): VNode {
  const finished = state.status === 'ok' || state.status === 'failed';
  return (
    <div class="cc-tool-details">
      {Object.keys(part.arguments).length > 0 ? (
        <ArgumentTree value={part.arguments} />
      ) : (
        <p class="cc-dim">{t('No arguments')}</p>
      )}
      {finished && state.result === '' && <p class="cc-dim">{t('No output')}</p>}
      {finished && state.result !== '' && <FullResult callId={part.callId} state={state} chat={chat} />}
    </div>
  );
}
