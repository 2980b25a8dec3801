/** One chat of the list: open, rename in place, delete after a question that names it. */
import type { VNode } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { t } from '../../i18n';
import type { ChatRow, Chats } from '../../store/types';
import { IconButton } from '../kit/button';
import { Confirm } from '../kit/confirm';
import { useUnique } from '../kit/id';
import { RenameBox } from '../kit/rename-box';
import { sentenceOf } from '../kit/sentence';
import { exactTime, relativeTime } from './relative-time';

export interface ChatLineProps {
  row: ChatRow;
  chats: Chats;
  current: boolean;
  onOpen(): void;
  /** It was deleted; the focus has to go somewhere. */
  onGone(): void;
}

export function ChatLine({ row, chats, current, onOpen, onGone }: ChatLineProps): VNode {
  const id = useUnique();
  const [doing, setDoing] = useState<'rename' | 'ask' | 'delete' | undefined>();
  const [problem, setProblem] = useState('');
  const line = useRef<HTMLButtonElement>(null);
  const title = row.title || t('Untitled chat');

  const settle = (): void => {
    setDoing(undefined);
    requestAnimationFrame(() => line.current?.focus());
  };
  const rename = async (wanted: string | undefined): Promise<void> => {
    settle();
    if (wanted !== undefined) {
      try {
        setProblem('');
        await chats.rename(row.chatId, wanted);
      } catch (error) {
        setProblem(sentenceOf(error));
      }
    }
  };
  const remove = async (): Promise<void> => {
    setDoing('delete');
    try {
      setProblem('');
      await chats.remove(row.chatId);
      onGone();
    } catch (error) {
      setProblem(sentenceOf(error));
      settle();
    }
  };
  return (
    <li class={current ? 'cc-chat-line cc-current' : 'cc-chat-line'}>
      {doing === 'rename' ? (
        <RenameBox title={row.title} onDone={wanted => void rename(wanted)} />
      ) : (
        <div class="cc-chat-row">
          <button
            type="button"
            class="cc-chat-open"
            aria-current={current ? 'true' : undefined}
            title={title}
            ref={line}
            onClick={onOpen}
            onKeyDown={event => {
              if (event.key === 'F2' || event.key === 'Delete') {
                event.preventDefault();
                setDoing(event.key === 'F2' ? 'rename' : 'ask');
              }
            }}
          >
            <span class="cc-chat-title" id={id}>
              {title}
            </span>
            {row.running && <span class="cc-running-mark">{t('running')}</span>}
            <time class="cc-dim" dateTime={row.updatedAt} title={exactTime(row.updatedAt)}>
              {relativeTime(row.updatedAt)}
            </time>
          </button>
          <span class="cc-chat-actions" role="group" aria-labelledby={id}>
            <IconButton name={t('Rename chat')} icon="edit" hint="F2" onClick={() => setDoing('rename')} />
            <IconButton name={t('Delete chat')} icon="delete" onClick={() => setDoing('ask')} />
          </span>
        </div>
      )}
      {(doing === 'ask' || doing === 'delete') && (
        <Confirm
          question={t('Delete the chat “{title}”? This cannot be undone.', { title })}
          action={t('Delete')}
          busy={doing === 'delete'}
          onConfirm={() => void remove()}
          onCancel={settle}
        />
      )}
      {problem && (
        <p class="cc-field-error" role="alert">
          {problem}
        </p>
      )}
    </li>
  );
}
