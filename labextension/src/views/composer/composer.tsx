/** Where a message is written. One rule: nothing typed is ever lost; what cannot be sent stays, and it says why. */
import type { Signal } from '@preact/signals';
import type { VNode } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { ContextChoice, Host } from '../../host';
import { t } from '../../i18n';
import type { Store } from '../../store/types';
import { IconButton } from '../kit/button';
import { useUnique } from '../kit/id';
import { Chips } from './chips';
import { ContextMenu } from './context-menu';
import { keyOf, ModelSelect } from './model-select';
import type { Command } from './picker';
import { PictureRefused, shrink } from './picture';
import { optionId, Suggestions } from './suggestions';
import { useAutosize, useSendWithEnter } from './use-box';
import { useDraft } from './use-draft';
import { useHistory } from './use-history';
import { usePicker } from './use-picker';

/** A double click on Send must not hit the Stop that takes its place. */
const STOP_AFTER_MS = 250;

export interface ComposerProps {
  store: Store;
  host: Host;
  /** For whoever moves the focus here. */
  boxRef?: { current: HTMLTextAreaElement | null };
  /** Words put into the box from outside; emptied when they are taken. */
  offered?: Signal<string>;
}

export function Composer({ store, host, boxRef, offered }: ComposerProps): VNode {
  const { chat, models } = store;
  const id = useUnique();
  const ownRef = useRef<HTMLTextAreaElement>(null);
  const box = boxRef ?? ownRef;
  const modelBox = useRef<HTMLSelectElement>(null);
  const draft = useDraft(store);
  const { text, attached } = draft;
  const [caret, setCaret] = useState(text.length);
  const [notice, setNotice] = useState('');
  const history = useHistory(chat);
  const sendWithEnter = useSendWithEnter(host);
  const [justSent, setJustSent] = useState(false);
  const caretWanted = useRef<number | undefined>(undefined);

  useEffect(() => {
    if (!justSent) return undefined;
    const over = setTimeout(() => setJustSent(false), STOP_AFTER_MS);
    return () => clearTimeout(over);
  }, [justSent]);

  const running = chat.running.value;
  const chosen = draft.model ?? chat.model.value ?? models.fallback.value;
  const blind = models.rows.value.some(row => keyOf(row) === keyOf(chosen) && row.vision === false);

  const write = (next: string, at: number): void => {
    draft.setText(next);
    setCaret(at);
    caretWanted.current = at; // set after rendering: the box has the old text until then
  };
  const run = (command: () => void) => () => {
    write('', 0);
    command();
  };
  const commands: Command[] = [
    { word: 'new', does: t('Start a new chat'), run: run(() => store.newChat()) },
    { word: 'stop', does: t('Stop the running turn'), run: run(() => chat.stop()) },
    { word: 'model', does: t('Choose the model'), run: run(() => modelBox.current?.focus()) },
    { word: 'settings', does: t('Open the settings'), run: run(() => (store.view.value = 'settings')) },
    { word: 'chats', does: t('Show the list of chats'), run: run(() => (store.view.value = 'chats')) }
  ];
  const picker = usePicker({
    text,
    caret,
    selections: store.selections,
    attached,
    commands,
    say: setNotice,
    replace(token, insert) {
      write(text.slice(0, token.start) + insert + text.slice(token.end), token.start + insert.length);
    }
  });

  const cannotSend = (): string | undefined => {
    if (store.connection.value !== 'open') {
      return t('Not connected, so this was not sent. It stays here until the connection is back.');
    }
    const tooLarge = attached.tooLarge(text);
    if (tooLarge || (running && attached.count === 0)) {
      return tooLarge; // words join the running turn, whatever its model is
    }
    if (!chosen && models.status.value === 'ready' && models.rows.value.length > 0) {
      modelBox.current?.focus();
      return t('Choose a model first.');
    }
    if (blind && attached.images.value.length > 0) {
      return cannotSee(chosen?.model);
    }
    return undefined;
  };
  const send = (): void => {
    if (!text.trim()) {
      return;
    }
    const command = commands.find(one => text.trim() === `/${one.word}`);
    if (command) {
      command.run();
      return;
    }
    const reason = cannotSend();
    if (reason) {
      setNotice(reason);
      return;
    }
    // Words alone join a running turn; with attachments they wait for its end.
    const taken = chat.send(text, attached.snapshot(), chosen);
    if (!taken) {
      setNotice(t('Not connected, so this was not sent. It stays here until the connection is back.'));
      return;
    }
    setJustSent(true);
    setNotice('');
    attached.clear();
    history.reset();
    write('', 0);
    box.current?.focus();
  };

  const attach = async (choice: ContextChoice): Promise<void> => {
    try {
      const content = await choice.load();
      setNotice(attached.addContext({ kind: choice.kind, label: choice.label, text: content }) ?? '');
    } catch {
      setNotice(t('{label} cannot be read now.', { label: choice.label }));
    }
    box.current?.focus();
  };
  const latestAttach = useRef(attach);
  latestAttach.current = attach;
  // "Ask CashCode about this cell" in the notebook.
  useEffect(() => host.onAttach?.(choice => void latestAttach.current(choice)), [host]);
  const addPictures = async (files: File[]): Promise<void> => {
    if (blind) {
      setNotice(cannotSee(chosen?.model));
      return;
    }
    let refusal: string | undefined;
    for (const file of files) {
      try {
        const label = (file.name || t('Picture')).slice(0, 200);
        refusal = attached.addImage({ label, dataUrl: await shrink(file) }) ?? refusal;
      } catch (error) {
        refusal = error instanceof PictureRefused ? error.message : t('This picture cannot be read.');
      }
    }
    setNotice(refusal ?? '');
    box.current?.focus();
  };
  const paste = (event: ClipboardEvent): void => {
    const files = [...(event.clipboardData?.files ?? [])].filter(file => file.type.startsWith('image/'));
    // Spreadsheets put a picture beside the text; the text is meant then.
    if (files.length > 0 && !event.clipboardData?.getData('text/plain')) {
      event.preventDefault();
      void addPictures(files);
    }
  };
  const keyDown = (event: KeyboardEvent): void => {
    // Enter and arrows belong to the input method while it composes; 229 is Safari's way to say so.
    if (event.isComposing || event.keyCode === 229) {
      return;
    }
    if (picker.key(event)) {
      event.preventDefault();
      event.stopPropagation();
      return;
    }
    if (event.key === 'Enter' && !event.shiftKey && !event.altKey) {
      if (event.ctrlKey || event.metaKey || sendWithEnter) {
        event.preventDefault();
        send();
      }
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) {
      return;
    }
    const earlier = history.step(event.key, text);
    if (earlier !== undefined) {
      event.preventDefault();
      write(earlier, earlier.length);
    }
  };
  const offer = offered?.value;
  useEffect(() => {
    if (offered && offer) {
      offered.value = '';
      write(offer, offer.length);
      box.current?.focus();
    }
  }, [offer]);
  const mention = (): void => {
    const before = text.slice(0, caret);
    const gap = before === '' || /\s$/.test(before) ? '@' : ' @';
    write(before + gap + text.slice(caret), caret + gap.length);
    box.current?.focus();
  };
  useAutosize(box, text);
  useLayoutEffect(() => {
    const at = caretWanted.current;
    caretWanted.current = undefined;
    if (at !== undefined) {
      box.current?.setSelectionRange(at, at);
    }
  });

  const hint = sendWithEnter ? t('Enter') : t('Ctrl+Enter');
  return (
    <div class="cc-composer-row">
      <div class="cc-composer">
        {picker.open && (
          <Suggestions
            id={id}
            name={picker.title}
            rows={picker.rows}
            active={picker.active}
            empty={picker.empty}
            onActive={picker.setActive}
          />
        )}
        {notice && (
          <div class="cc-notice" role="alert" key="notice">
            {notice}
          </div>
        )}
        <div class="cc-box" key="box">
          <Chips attached={attached} onLast={() => box.current?.focus()} />
          <textarea
            ref={box}
            class="cc-textbox"
            rows={1}
            aria-label={t('Message CashCode')}
            placeholder={running ? t('Add to the running turn…') : t('Message CashCode…')}
            value={text}
            aria-autocomplete="list"
            aria-controls={picker.open ? id : undefined}
            aria-activedescendant={picker.open && picker.rows.length ? optionId(id, picker.active) : undefined}
            onInput={event => {
              draft.setText(event.currentTarget.value);
              setCaret(event.currentTarget.selectionEnd);
              setNotice('');
            }}
            onSelect={event => setCaret(event.currentTarget.selectionEnd)}
            onKeyDown={keyDown}
            onPaste={paste}
            onBlur={() => picker.open && picker.close()}
          />
          <div class="cc-toolbar">
            <button
              type="button"
              class="cc-icon-button cc-at"
              title={t('Use a skill or MCP server')}
              aria-label={t('Use a skill or MCP server')}
              onClick={mention}
            >
              @
            </button>
            <ContextMenu
              host={host}
              onContext={choice => void attach(choice)}
              onPictures={files => void addPictures(files)}
            />
            <span class="cc-space" />
            <ModelSelect
              models={models}
              value={chosen}
              onChange={draft.setModel}
              name={t('Model')}
              selectRef={modelBox}
            />
            {running && <IconButton name={t('Stop')} icon="stop" disabled={justSent} onClick={() => chat.stop()} />}
            {(!running || text.trim() !== '') && (
              <IconButton
                name={t('Send')}
                icon="send"
                look="primary"
                hint={hint}
                disabled={!text.trim()}
                onClick={send}
              />
            )}
          </div>
        </div>
      </div>
      <div class="cc-gutter" aria-hidden="true" />
    </div>
  );
}

const cannotSee = (model: string | undefined): string =>
  t('{model} cannot see pictures. Choose a model that can.', { model: model ?? t('This model') });
