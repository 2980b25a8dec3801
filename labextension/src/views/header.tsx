/** The panel's first line: the chat's title or the view's name, and the ways to the other views. */
import type { VNode } from 'preact';
import { useRef, useState } from 'preact/hooks';
import type { Host } from '../host';
import { t } from '../i18n';
import type { Store, View } from '../store/types';
import { IconButton } from './kit/button';
import { RenameBox } from './kit/rename-box';
import { sentenceOf } from './kit/sentence';

export interface HeaderProps {
  store: Store;
  host: Host;
  onProblem(sentence: string): void;
  backRef: { current: HTMLButtonElement | null };
}

export function Header({ store, host, onProblem, backRef }: HeaderProps): VNode {
  const view = store.view.value;
  const { chat } = store;
  const go = (to: View): void => {
    store.view.value = view === to ? 'chat' : to;
  };
  const kept = chat.messages.value.length > 0; // the server knows a chat from its first turn on
  const { openInMain } = host;
  return (
    <header class="cc-header">
      {view === 'chat' ? (
        <Title key={chat.id.value} store={store} kept={kept} onProblem={onProblem} />
      ) : (
        <>
          <IconButton name={t('Back to the chat')} icon="back" onClick={() => go('chat')} buttonRef={backRef} />
          <h1 class="cc-title">{view === 'chats' ? t('Chats') : t('Settings')}</h1>
        </>
      )}
      <span class="cc-space" />
      {openInMain && view === 'chat' && (
        <IconButton name={t('Open as a tab')} icon="open-tab" onClick={() => openInMain(chat.id.value)} />
      )}
      <IconButton name={t('New chat')} icon="add" onClick={() => store.newChat()} />
      <IconButton name={t('Chats')} icon="history" pressed={view === 'chats'} onClick={() => go('chats')} />
      <IconButton
        name={t('Settings')}
        icon="settings"
        pressed={view === 'settings'}
        onClick={() => go('settings')}
      />
    </header>
  );
}

interface TitleProps {
  store: Store;
  kept: boolean;
  onProblem(sentence: string): void;
}

function Title({ store, kept, onProblem }: TitleProps): VNode {
  const [renaming, setRenaming] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const title = store.chat.title.value || t('New chat');
  const rename = async (wanted: string | undefined): Promise<void> => {
    setRenaming(false);
    requestAnimationFrame(() => button.current?.focus());
    if (wanted !== undefined) {
      try {
        await store.chats.rename(store.chat.id.value, wanted);
        onProblem('');
      } catch (error) {
        onProblem(sentenceOf(error));
      }
    }
  };
  if (renaming) {
    return <RenameBox title={store.chat.title.value} onDone={wanted => void rename(wanted)} />;
  }
  return (
    <>
      <h1
        class={kept ? 'cc-title cc-title-click' : 'cc-title'}
        title={title}
        onClick={() => kept && setRenaming(true)} // for the mouse; the button beside it is for everyone
      >
        {title}
      </h1>
      {kept && (
        <span class="cc-rename-button">
          <IconButton name={t('Rename chat')} icon="edit" onClick={() => setRenaming(true)} buttonRef={button} />
        </span>
      )}
    </>
  );
}
