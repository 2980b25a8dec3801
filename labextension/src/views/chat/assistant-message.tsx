/** An answer: its parts, then how it ended. */
import type { VNode } from 'preact';
import { t } from '../../i18n';
import type { AssistantMessage, Store } from '../../store/types';
import { memo } from './memo';
import { Parts } from './parts';
import { TurnEnd } from './turn-end';

interface AssistantRowProps {
  message: AssistantMessage;
  store: Store;
}

export const AssistantRow = memo(function AssistantRow({ message, store }: AssistantRowProps): VNode {
  const running = message.running.value;
  const parts = message.parts.value;
  const silent = running && parts.length === 0;
  return (
    <article class="cc-message cc-message-assistant" aria-label={t('CashCode')} aria-busy={running}>
      <header class="cc-message-head">
        <span class="cc-message-who">{t('CashCode')}</span>
      </header>
      <Parts parts={parts} running={running} chat={store.chat} />
      {silent && (
        <p class="cc-waiting">
          <span class="cc-spinner" /> {t('Waiting for the model…')}
        </p>
      )}
      <TurnEnd message={message} store={store} retry={retryOf(message, store)} />
    </article>
  );
});

/** Once more from the person's message before this answer; read when it is pressed, as its cursor comes late. */
function retryOf(message: AssistantMessage, store: Store): () => void {
  return () => {
    const messages = store.chat.messages.peek();
    const before = messages.slice(0, messages.indexOf(message)).reverse();
    const asked = before.find(other => other.role === 'user' && !other.steer.peek());
    if (asked?.role !== 'user') return;
    if (asked.cursor !== undefined) store.chat.retry(asked.cursor);
    else store.chat.send(asked.content);
  };
}
