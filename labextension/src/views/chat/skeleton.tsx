/** The shape of messages before they are there. */
import type { VNode } from 'preact';
import { t } from '../../i18n';

export function SkeletonRow(): VNode {
  return (
    <div class="cc-ghost" aria-hidden="true">
      <span />
      <span />
      <span />
    </div>
  );
}

export function Skeleton(): VNode {
  return (
    <div class="cc-ghosts" role="status">
      <span class="cc-hidden">{t('Loading the chat')}</span>
      <SkeletonRow />
      <SkeletonRow />
      <SkeletonRow />
    </div>
  );
}
