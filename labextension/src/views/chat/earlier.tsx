/** The upper end of a chat: what is older comes when the reader gets near, or by a button. */
import type { VNode } from 'preact';
import { t } from '../../i18n';
import type { Chat } from '../../store/types';
import { Button } from '../kit/button';
import { SkeletonRow } from './skeleton';

interface EarlierProps {
  chat: Chat;
  /** Messages that are here but not shown yet. */
  hidden: number;
  onMore: () => void;
}

export function Earlier({ chat, hidden, onMore }: EarlierProps): VNode | null {
  const older = chat.older.value;
  if (hidden === 0 && older === 'none') return null;
  if (hidden === 0 && older === 'loading') {
    return (
      <div class="cc-earlier" aria-busy="true">
        <SkeletonRow />
        <span class="cc-hidden">{t('Loading earlier messages')}</span>
      </div>
    );
  }
  if (hidden === 0 && older === 'failed') {
    return (
      <div class="cc-earlier" role="alert">
        <span class="cc-dim">{t('Earlier messages could not be loaded.')}</span>
        <Button onClick={onMore}>{t('Retry')}</Button>
      </div>
    );
  }
  return (
    <div class="cc-earlier">
      <Button look="link" onClick={onMore}>
        {t('Show earlier messages')}
      </Button>
    </div>
  );
}
