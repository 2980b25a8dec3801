/** One chat: its messages from the oldest that is shown to the newest, and how to move in them. */
import type { VNode } from 'preact';
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import type { Host } from '../../host';
import { t } from '../../i18n';
import type { Store } from '../../store/types';
import { HostContext } from '../host-context';
import { Button } from '../kit/button';
import { Announcer } from './announcer';
import { EmptyChat } from './empty-chat';
import { ErrorCard } from './error-card';
import { Follow } from './follow';
import { MessageList } from './message-list';
import { Skeleton } from './skeleton';

export interface ChatViewProps {
  store: Store;
  host: Host;
  /** The empty chat's suggestions go here; without it there are none. */
  onSuggest?: (text: string) => void;
}

export function ChatView({ store, host, onSuggest }: ChatViewProps): VNode {
  return (
    <HostContext.Provider value={host}>
      <div class="cc-chat">
        {/* Another chat is another list: its place, its folds, its window. */}
        <Content key={store.chat.id.value} store={store} onSuggest={onSuggest} />
        <Announcer chat={store.chat} />
      </div>
    </HostContext.Provider>
  );
}

function Content({ store, onSuggest }: { store: Store; onSuggest?: (text: string) => void }): VNode {
  const { chat } = store;
  const follow = useMemo(() => new Follow(), []);
  const scroller = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const near = useRef<() => void>(() => undefined);
  useLayoutEffect(() => {
    if (!scroller.current || !content.current) return undefined;
    return follow.watch(scroller.current, content.current);
  }, [follow]);
  const scrolled = (): void => {
    follow.scrolled();
    if (scroller.current && scroller.current.scrollTop < 300) near.current();
  };
  const status = chat.status.value;
  const count = chat.messages.value.length;
  const problem = chat.problem.value;
  return (
    <>
      <div
        class="cc-scroller"
        ref={scroller}
        onScroll={scrolled}
        tabIndex={0}
        role="group"
        aria-label={t('Conversation')}
      >
        <div class="cc-content" ref={content}>
          {status === 'loading' && count === 0 && <Skeleton />}
          {status === 'failed' && count === 0 && <LoadFailure store={store} />}
          {status === 'ready' && count === 0 && <EmptyChat onSuggest={onSuggest} />}
          {count > 0 && <MessageList store={store} follow={follow} near={near} />}
          {problem && <ErrorCard error={problem} store={store} />}
        </div>
      </div>
      {count > 0 && <JumpToLatest follow={follow} />}
    </>
  );
}

function LoadFailure({ store }: { store: Store }): VNode {
  const detail = store.chat.loadError.value?.detail;
  return (
    <div class="cc-load-failure" role="alert">
      <p dir="auto">{detail ?? t('The chat could not be loaded.')}</p>
      <Button look="primary" onClick={() => void store.chat.reload()}>
        {t('Retry')}
      </Button>
    </div>
  );
}

function JumpToLatest({ follow }: { follow: Follow }): VNode | null {
  if (follow.following.value) return null;
  return (
    <div class="cc-jump">
      <Button icon="arrow-down" onClick={() => follow.toLatest()}>
        {t('Jump to latest')}
      </Button>
    </div>
  );
}
