/** An error: its sentence, and the one thing to do about it. */
import type { VNode } from 'preact';
import { t } from '../../i18n';
import type { ChatError, Store } from '../../store/types';
import { Button } from '../kit/button';
import { Icon } from '../icon';
import { durationWords } from './words';

interface ErrorCardProps {
  error: ChatError;
  store: Store;
  /** How to try again; undefined where that is impossible. */
  retry?: () => void;
}

export function ErrorCard({ error, store, retry }: ErrorCardProps): VNode {
  const action = actionOf(error, store, retry);
  const wait = error.retryAfter;
  return (
    <div class="cc-turn-error" role="alert">
      <Icon name="error" />
      <p class="cc-turn-error-words" dir="auto">
        {error.detail.slice(0, 2_000)}
        {wait !== undefined && wait > 0 && ` ${t('Try again in {duration}.', { duration: durationWords(wait) })}`}
      </p>
      {action && <Button onClick={action.run}>{action.words}</Button>}
    </div>
  );
}

function actionOf(
  error: ChatError,
  store: Store,
  retry?: () => void
): { words: string; run: () => void } | undefined {
  const settings = (): void => {
    store.view.value = 'settings';
  };
  switch (error.code) {
    case 'llm_not_configured':
      return { words: t('Connect a model'), run: settings };
    case 'llm_auth':
    case 'llm_tls':
      return { words: t('Open settings'), run: settings };
    case 'llm_model_not_found':
      return { words: t('Choose another model'), run: settings };
    case 'llm_context_overflow':
      return { words: t('New chat'), run: () => store.newChat() };
    default:
      return retry && { words: t('Retry'), run: retry };
  }
}
