/** The states around content: loading, empty and failed. No view shows a blank instead. */
import type { ComponentChildren, VNode } from 'preact';
import { t } from '../../i18n';
import { Button } from './button';

/** Rows in the shape of what comes. */
export function Skeleton({ rows, name }: { rows: number; name: string }): VNode {
  return (
    <div class="cc-skeleton" role="status" aria-label={name}>
      {Array.from({ length: rows }, (_row, index) => (
        <div class="cc-skeleton-row" key={index} />
      ))}
    </div>
  );
}

export function Empty({ children }: { children: ComponentChildren }): VNode {
  return <div class="cc-empty">{children}</div>;
}

export interface FailedProps {
  sentence: string;
  onRetry?(): void;
  /** The button's words; "Retry" without. */
  action?: string;
}

export function Failed({ sentence, onRetry, action }: FailedProps): VNode {
  return (
    <div class="cc-failed" role="alert">
      <span>{sentence}</span>
      {onRetry && <Button onClick={onRetry}>{action ?? t('Retry')}</Button>}
    </div>
  );
}
