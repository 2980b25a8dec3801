/** The list of chats, newest first, with a search over titles. */
import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { t, tn } from '../../i18n';
import type { Store } from '../../store/types';
import { Icon } from '../icon';
import { Button } from '../kit/button';
import { sentenceOfChatError } from '../kit/sentence';
import { Empty, Failed, Skeleton } from '../kit/states';
import { ChatLine } from './chat-line';

export function ChatsView({ store }: { store: Store }): VNode {
  const { chats } = store;
  const [query, setQuery] = useState('');
  const search = useRef<HTMLInputElement>(null);
  const list = useRef<HTMLUListElement>(null);
  const shown = store.view.value === 'chats';
  useEffect(() => {
    if (shown) {
      void chats.refresh();
    }
  }, [shown]);

  const words = query.trim().toLowerCase();
  const rows = chats.rows.value.filter(row => row.title.toLowerCase().includes(words));
  const open = (chatId: string): void => {
    store.openChat(chatId);
    store.view.value = 'chat';
  };
  const move = (event: KeyboardEvent): void => {
    if ((event.key !== 'ArrowDown' && event.key !== 'ArrowUp') || isTyping(event.target)) {
      return;
    }
    const all = [...(list.current?.querySelectorAll<HTMLElement>('.cc-chat-open') ?? [])];
    const at = all.findIndex(line => line.closest('li')?.contains(event.target as Node));
    const to = all[at + (event.key === 'ArrowDown' ? 1 : -1)];
    event.preventDefault();
    (to ?? (event.key === 'ArrowUp' ? search.current : undefined))?.focus();
  };
  return (
    <div class="cc-chats">
      <div class="cc-search">
        <Icon name="search" />
        <input
          type="search"
          class="cc-input"
          aria-label={t('Search chats')}
          placeholder={t('Search chats')}
          value={query}
          ref={search}
          onInput={event => setQuery(event.currentTarget.value)}
          onKeyDown={event => {
            if (event.key === 'ArrowDown') {
              event.preventDefault();
              list.current?.querySelector<HTMLElement>('.cc-chat-open')?.focus();
            }
          }}
        />
        <span class="cc-dim cc-count" role="status">
          {words ? tn('{count} chat', '{count} chats', rows.length) : ''}
        </span>
      </div>
      {chats.status.value === 'failed' && (
        <Failed sentence={sentenceOfChatError(chats.error.value)} onRetry={() => void chats.refresh()} />
      )}
      {chats.status.value === 'loading' && rows.length === 0 && <Skeleton rows={6} name={t('Loading chats…')} />}
      {rows.length > 0 && (
        <ul class="cc-chat-list" aria-label={t('Chats')} ref={list} onKeyDown={move}>
          {rows.map(row => (
            <ChatLine
              key={row.chatId}
              row={row}
              chats={chats}
              current={row.chatId === store.chat.id.value}
              onOpen={() => open(row.chatId)}
              onGone={() => {
                if (row.chatId === store.chat.id.value) {
                  store.newChat();
                }
                search.current?.focus();
              }}
            />
          ))}
        </ul>
      )}
      {chats.status.value === 'ready' && rows.length === 0 && (
        <Empty>
          <p>
            {words ? t('No title has “{query}” in it.', { query: query.trim() }) : t('There are no chats yet.')}
          </p>
          {words ? (
            <Button onClick={() => setQuery('')}>{t('Clear search')}</Button>
          ) : (
            <Button look="primary" onClick={() => store.newChat()}>
              {t('Start the first chat')}
            </Button>
          )}
        </Empty>
      )}
      {chats.more.value && chats.status.value !== 'failed' && (
        <div class="cc-more">
          <Button onClick={() => void chats.loadMore()}>{t('Load more')}</Button>
        </div>
      )}
    </div>
  );
}

const isTyping = (target: EventTarget | null): boolean => target instanceof HTMLInputElement;
