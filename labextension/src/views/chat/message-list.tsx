/**
 * The list of messages. It begins with the newest page and grows upwards as the reader goes there, so that a chat of
 * thousands costs its first paint no more than a short one; what is off the screen is not laid out (style/chat.css).
 */
import type { MutableRef } from 'preact/hooks';
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { VNode } from 'preact';
import { t } from '../../i18n';
import type { ChatMessage, Store } from '../../store/types';
import { AssistantRow } from './assistant-message';
import { Earlier } from './earlier';
import type { Follow } from './follow';
import { memo } from './memo';
import { UserRow } from './user-message';

/** Messages of the first paint, and how many more appear at once above them: as many as a frame can bear. */
const PAGE = 50;
const STEP = 20;

interface MessageListProps {
  store: Store;
  follow: Follow;
  /** Called when the reader comes near the upper end. */
  near: MutableRef<() => void>;
}

export function MessageList({ store, follow, near }: MessageListProps): VNode {
  const { chat } = store;
  const messages = chat.messages.value;
  const list = useRef<HTMLDivElement>(null);
  const [hidden, setHidden] = useState(() => Math.max(0, messages.length - PAGE));
  const shown = messages.slice(Math.min(hidden, messages.length - 1));

  const more = (): void => {
    if (hidden > 0) setHidden(Math.max(0, hidden - STEP));
    else if (chat.older.peek() === 'some' || chat.older.peek() === 'failed') void chat.loadOlder();
  };
  near.current = () => {
    // What failed waits for the person's Retry instead of failing with every movement.
    if (hidden > 0 || chat.older.peek() === 'some') more();
  };

  // While this renders the page still shows what was before: the place of what the reader sees is taken now.
  const first = shown[0].key;
  const release = useMemo(() => follow.hold(list.current), [first]);
  useLayoutEffect(release, [first]);

  const last = messages[messages.length - 1];
  const sent = last.role === 'user' && last.state.peek() === 'sending' ? last.key : undefined;
  useLayoutEffect(() => {
    if (sent !== undefined) follow.toLatest();
  }, [sent]);
  useLayoutEffect(() => follow.settle(), [messages.length]);

  return (
    <>
      <Earlier chat={chat} hidden={hidden} onMore={more} />
      <div class="cc-messages" role="list" aria-label={t('Messages')} ref={list}>
        {shown.map(message => (
          <Row key={message.key} message={message} store={store} />
        ))}
      </div>
    </>
  );
}

const Row = memo(function Row({ message, store }: { message: ChatMessage; store: Store }): VNode {
  return (
    <div class="cc-message-row" role="listitem">
      {message.role === 'user' ? (
        <UserRow message={message} store={store} />
      ) : (
        <AssistantRow message={message} store={store} />
      )}
    </div>
  );
});
