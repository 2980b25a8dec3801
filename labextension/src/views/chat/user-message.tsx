/** What the person wrote: plain text as it was typed, what was attached, and where it is on its way. */
import type { VNode } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { IconName } from '../../host';
import { t } from '../../i18n';
import type { Store, UserMessage } from '../../store/types';
import { Icon } from '../icon';
import { Button, IconButton } from '../kit/button';
import { BoundedText } from './bounded-text';
import { EditMessage } from './edit-message';
import { memo } from './memo';
import { timeWords } from './words';

export const UserRow = memo(function UserRow({ message, store }: { message: UserMessage; store: Store }): VNode {
  const [editing, setEditing] = useState(false);
  const box = useRef<HTMLElement>(null);
  const left = useRef(false);
  void [message.state.value, message.steer.value]; // the cursor comes with these, and is no signal itself
  const { cursor, at } = message;
  const time = at === undefined ? undefined : timeWords(at);
  const leave = (): void => {
    left.current = true;
    setEditing(false);
  };
  // The button that the editing began with is away until this was rendered again.
  useLayoutEffect(() => {
    if (editing || !left.current) return;
    left.current = false;
    box.current?.querySelector<HTMLElement>('.cc-message-actions button')?.focus({ preventScroll: true });
  }, [editing]);
  const save = (content: string): void => {
    leave();
    if (cursor !== undefined) store.chat.retry(cursor, content);
  };
  return (
    <article class="cc-message cc-message-user" aria-label={t('You')} ref={box}>
      <header class="cc-message-head">
        <span class="cc-message-who">{t('You')}</span>
        <span class="cc-message-actions">
          {cursor !== undefined && !editing && (
            <IconButton
              name={t('Edit and retry')}
              hint={t('starts a new chat')}
              icon="edit"
              onClick={() => setEditing(true)}
            />
          )}
        </span>
        {time !== undefined && (
          <time class="cc-message-time" dateTime={at}>
            {time}
          </time>
        )}
      </header>
      {editing ? (
        <EditMessage content={message.content} onSave={save} onCancel={leave} />
      ) : (
        <div class="cc-user-text" dir="auto">
          <BoundedText text={message.content} limit={10_000} />
        </div>
      )}
      <Chips message={message} />
      <Delivery message={message} store={store} />
    </article>
  );
});

function Chips({ message }: { message: UserMessage }): VNode | null {
  const { context, skills, connectors } = message;
  if (context.length + skills.length + connectors.length === 0) return null;
  return (
    <div class="cc-attached-row">
      {context.map((row, index) => (
        <Chip key={`c${index}`} icon={contextIcon(row.kind)} words={row.label} />
      ))}
      {skills.map(row => (
        <Chip key={`s${row.name}`} icon="skill" words={row.label ?? row.name} />
      ))}
      {connectors.map(row => (
        <Chip key={`m${row.server}`} icon="mcp" words={row.label ?? row.server} />
      ))}
    </div>
  );
}

function Chip({ icon, words }: { icon: IconName; words: string }): VNode {
  return (
    <span class="cc-attached" title={words}>
      <Icon name={icon} />
      <span class="cc-attached-words">{words}</span>
    </span>
  );
}

function contextIcon(kind: string): IconName {
  if (kind === 'variable') return 'variable';
  return kind === 'image' ? 'image' : 'cell';
}

function Delivery({ message, store }: { message: UserMessage; store: Store }): VNode | null {
  switch (message.state.value) {
    case 'sending':
      return <p class="cc-delivery">{t('Sending…')}</p>;
    case 'queued':
      return <p class="cc-delivery">{t('Queued: comes after the running answer')}</p>;
    case 'unsent':
      return (
        <p class="cc-delivery cc-delivery-unsent" role="alert">
          {t('Not sent')}
          <Button look="link" onClick={() => store.chat.resend(message.key)}>
            {t('Send again')}
          </Button>
        </p>
      );
    case 'sent':
      return message.steer.value ? <p class="cc-delivery">{t('Joined the running answer')}</p> : null;
  }
}
