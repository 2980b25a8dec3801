/**
 * The whole panel. The three views stay alive beneath each other, so that drafts and places survive going back and
 * forth; only one of them can be seen and reached.
 */
import { useSignal } from '@preact/signals';
import type { ComponentChildren, VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Host } from '../host';
import { languageTag, t } from '../i18n';
import type { Store, View } from '../store/types';
import { ChatView } from './chat/chat-view';
import { ChatsView } from './chats/chats-view';
import { Composer } from './composer/composer';
import { ConnectionLine } from './connection-line';
import { FirstRun } from './first-run/first-run';
import { Header } from './header';
import { HostContext } from './host-context';
import { ErrorBoundary } from './kit/error-boundary';
import { Failed } from './kit/states';
import { sentenceOfChatError } from './kit/sentence';
import { SettingsView } from './settings/settings-view';

export interface PanelProps {
  store: Store;
  host: Host;
}

export function Panel({ store, host }: PanelProps): VNode {
  return (
    <HostContext.Provider value={host}>
      <ErrorBoundary>
        <Frame store={store} host={host} />
      </ErrorBoundary>
    </HostContext.Provider>
  );
}

function Frame({ store, host }: PanelProps): VNode {
  const view = store.view.value;
  const box = useRef<HTMLTextAreaElement | null>(null);
  const back = useRef<HTMLButtonElement | null>(null);
  const region = useRef<HTMLElement>(null);
  const offered = useSignal('');
  const [said, setSaid] = useState('');
  const [problem, setProblem] = useState('');
  const chatId = store.chat.id.value;
  const before = useRef({ view, chatId });

  // Whoever changes the view by a control of the panel goes on where the new view begins.
  useEffect(() => {
    const { view: lastView, chatId: lastChat } = before.current;
    before.current = { view, chatId };
    const root = region.current?.getRootNode();
    const focused = root instanceof Document || root instanceof ShadowRoot ? root.activeElement : null;
    const inside = region.current?.contains(focused) || focused === document.body;
    if (inside && (lastView !== view || (lastChat !== chatId && lastChat !== ''))) {
      (view === 'chat' ? box.current : back.current)?.focus();
    }
  }, [view, chatId]);
  useEffect(() => {
    setProblem('');
  }, [view, chatId]);

  return (
    <section
      class={`cc-frame cc-host-${host.kind}`}
      aria-label={view === 'settings' ? t('CashCode settings') : t('CashCode chat')}
      lang={languageTag()}
      // In a notebook's output single letters are commands of the notebook.
      data-lm-suppress-shortcuts={host.kind === 'cell' ? 'true' : undefined}
      ref={region}
      onKeyDown={event => {
        if (event.key === 'Escape' && view !== 'chat' && !event.defaultPrevented && !event.isComposing) {
          store.view.value = 'chat';
        }
      }}
    >
      <Header store={store} host={host} onProblem={setProblem} backRef={back} />
      <ConnectionLine store={store} />
      {problem && (
        <p class="cc-line-error" role="alert">
          {problem}
        </p>
      )}
      <div class="cc-views">
        <Slide of="chat" shown={view}>
          <ErrorBoundary>
            <Conversation
              store={store}
              host={host}
              onSuggest={text => (offered.value = text)}
              onConnected={sentence => {
                setSaid(sentence);
                box.current?.focus();
              }}
            />
          </ErrorBoundary>
          <p class={said && store.chat.messages.value.length === 0 ? 'cc-said' : 'cc-said cc-hidden'} role="status">
            {store.chat.messages.value.length === 0 ? said : ''}
          </p>
          <ErrorBoundary>
            <Composer store={store} host={host} boxRef={box} offered={offered} />
          </ErrorBoundary>
        </Slide>
        <Slide of="chats" shown={view}>
          <ErrorBoundary>
            <ChatsView store={store} />
          </ErrorBoundary>
        </Slide>
        <Slide of="settings" shown={view}>
          <ErrorBoundary>
            <SettingsView store={store} />
          </ErrorBoundary>
        </Slide>
      </div>
    </section>
  );
}

/** Made when it is first shown, kept from then on. */
function Slide({ of, shown, children }: { of: View; shown: View; children: ComponentChildren }): VNode | null {
  const visited = useRef(false);
  visited.current ||= of === shown || of === 'chat';
  return visited.current ? (
    <div class={`cc-view cc-view-${of}`} inert={of !== shown} aria-hidden={of !== shown ? 'true' : undefined}>
      {children}
    </div>
  ) : null;
}

interface ConversationProps extends PanelProps {
  onConnected(sentence: string): void;
  onSuggest(text: string): void;
}

/** The messages, or in a panel that has no model yet the ways to get one. */
function Conversation({ store, host, onConnected, onSuggest }: ConversationProps): VNode {
  const { settings, chat } = store;
  const llm = settings.llm.value;
  const empty = chat.messages.value.length === 0 && chat.status.value === 'ready';
  const needsModel = llm && (!llm.configured || (!llm.default && !chat.model.value));
  if (empty && needsModel) {
    return (
      <div class="cc-scroll">
        <FirstRun store={store} llm={llm} onConnected={onConnected} />
      </div>
    );
  }
  return (
    <>
      {empty && settings.status.value === 'failed' && (
        <Failed sentence={sentenceOfChatError(settings.error.value)} onRetry={() => void settings.refresh()} />
      )}
      <ChatView store={store} host={host} onSuggest={onSuggest} />
    </>
  );
}
