/** The question before a call: what would be done, and the person's answer. It never takes the focus from typing. */
import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { t } from '../../i18n';
import { revealHidden } from '../../markdown/hidden';
import type { Approval, Chat, Risk, Scope, ToolPart } from '../../store/types';
import { Button, IconButton } from '../kit/button';
import { focusedElement } from './focus';
import { useEverySecond } from './now';
import { Preview } from './preview';
import { durationWords } from './words';

interface ApprovalCardProps {
  part: ToolPart;
  approval: Approval;
  chat: Chat;
}

export function ApprovalCard({ part, approval, chat }: ApprovalCardProps): VNode {
  const [more, setMore] = useState(false);
  const card = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (card.current && isFree(card.current)) {
      card.current.querySelector<HTMLButtonElement>('.cc-deny button')?.focus({ preventScroll: true });
    }
  }, []);
  const allow = (scope: Scope): void => chat.decide(part.callId, 'allow', scope);
  return (
    <div class="cc-approval" ref={card} onKeyDown={ignoreHeldKeys}>
      <div class="cc-approval-head">
        <span role="alert" class="cc-approval-title">
          {title(part.risk)} <span class="cc-hidden">{revealHidden(part.name)}</span>
        </span>
        <Remaining expiresAt={approval.expiresAt} />
      </div>
      <Preview text={approval.preview} />
      <div class="cc-approval-actions">
        <span class="cc-split">
          <Button look="primary" onClick={() => allow('once')}>
            {t('Allow once')}
          </Button>
          <IconButton
            name={t('More ways to allow')}
            icon="caret-down"
            expanded={more}
            onClick={() => setMore(!more)}
          />
        </span>
        <span class="cc-deny">
          <Button look="danger" onClick={() => chat.decide(part.callId, 'deny', 'once')}>
            {t('Deny')}
          </Button>
        </span>
      </div>
      {more && (
        <div class="cc-approval-more">
          <Button onClick={() => allow('turn')}>{t('Allow for this turn')}</Button>
          <Button onClick={() => allow('chat')}>{t('Allow for this chat')}</Button>
          <p class="cc-dim">{t('This tool then runs with any arguments, without asking again.')}</p>
        </div>
      )}
    </div>
  );
}

function title(risk: Risk): string {
  switch (risk) {
    case 'read':
      return t('Allow this to be read?');
    case 'write':
      return t('Allow this change?');
    case 'execute':
      return t('Allow this command?');
    case 'network':
      return t('Allow this request to the network?');
    case 'memory':
      return t('Allow this to be remembered?');
  }
}

/** Nobody is typing, here or anywhere else in the page. */
function isFree(card: HTMLElement): boolean {
  const active = focusedElement();
  if (active === null || active === document.body) return true;
  if (active.matches('input, textarea, select, [contenteditable]:not([contenteditable="false"])')) return false;
  // Another question that waits keeps the focus, and so does the one that is being answered.
  if (active.closest('.cc-approval')) return false;
  return card.closest('.cc-panel, .cc-chat')?.contains(active) ?? false;
}

/** A key that is held down from before the card came must not answer it. */
function ignoreHeldKeys(event: KeyboardEvent): void {
  if (event.repeat && (event.key === 'Enter' || event.key === ' ')) event.preventDefault();
}

function Remaining({ expiresAt }: { expiresAt: string }): VNode | null {
  const end = Date.parse(expiresAt);
  const seconds = useEverySecond(!Number.isNaN(end), () => Math.ceil((end - Date.now()) / 1000));
  if (Number.isNaN(seconds)) return null;
  const words = seconds > 0 ? t('{duration} left', { duration: durationWords(seconds) }) : t('Time is up');
  return (
    <span class="cc-dim" role="timer">
      {words}
    </span>
  );
}

/** How the question was answered, here or elsewhere. */
export function decisionWords(approval: Approval): string {
  if (approval.decision === 'allow') return t('Allowed');
  switch (approval.reason) {
    case 'timeout':
      return t('Denied: nobody answered in time');
    case 'cancelled':
      return t('Denied: the turn was stopped');
    case 'unattended':
      return t('Denied: nobody was there to ask');
    default:
      return t('Denied');
  }
}
