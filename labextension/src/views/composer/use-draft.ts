/** What is being written, per chat: the words live in the store and survive a reload, the rest as long as the panel. */
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { ModelChoice, Store } from '../../store/types';
import { Attached } from './attached';

interface Extras {
  attached: Attached;
  model: ModelChoice | undefined;
}

export interface Draft extends Extras {
  text: string;
  setText(text: string): void;
  setModel(model: ModelChoice | undefined): void;
}

export function useDraft(store: Store): Draft {
  const id = store.chat.id.value;
  const [text, setText] = useState(() => store.draft(id));
  const [, showAgain] = useState(0);
  const extras = useRef(new Map<string, Extras>());
  const shown = useRef(id);

  useLayoutEffect(() => {
    const before = shown.current;
    if (before === id) {
      return;
    }
    shown.current = id;
    if (before === '' && text) {
      store.setDraft(id, text); // typed before the server had given the chat its id
      return;
    }
    setText(store.draft(id));
  }, [id]);

  let mine = extras.current.get(id);
  if (!mine) {
    mine = extras.current.get('') ?? { attached: new Attached(), model: undefined };
    extras.current.delete('');
    extras.current.set(id, mine);
  }
  const { attached, model } = mine;
  return {
    text,
    attached,
    model,
    setText(next) {
      setText(next);
      store.setDraft(id, next);
    },
    setModel(next) {
      extras.current.set(id, { attached, model: next });
      showAgain(count => count + 1);
    }
  };
}
