/** A question before something is lost: it names the thing, stands where the thing stands, and starts on "Cancel". */
import type { ComponentChildren, VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { t } from '../../i18n';
import { Button } from './button';
import { useUnique } from './id';

export interface ConfirmProps {
  question: string;
  children?: ComponentChildren;
  action: string;
  onConfirm(): void;
  onCancel(): void;
  busy?: boolean;
}

export function Confirm({ question, children, action, onConfirm, onCancel, busy = false }: ConfirmProps): VNode {
  const id = useUnique();
  const cancel = useRef<HTMLButtonElement>(null);
  useEffect(() => cancel.current?.focus(), []);
  return (
    <div
      class="cc-confirm"
      role="alertdialog"
      aria-labelledby={id}
      onKeyDown={event => {
        if (event.key === 'Escape') {
          event.stopPropagation();
          onCancel();
        }
      }}
    >
      <p id={id}>{question}</p>
      {children}
      <div class="cc-buttons">
        <Button look="danger" onClick={onConfirm} busy={busy} disabled={busy}>
          {action}
        </Button>
        <Button onClick={onCancel} buttonRef={cancel}>
          {t('Cancel')}
        </Button>
      </div>
    </div>
  );
}
