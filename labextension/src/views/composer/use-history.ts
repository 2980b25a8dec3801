/** Own earlier messages by ArrowUp in an empty box, forward again by ArrowDown, until something is typed. */
import { useRef } from 'preact/hooks';
import type { Chat } from '../../store/types';

export interface History {
  /** The text to show for this key, or undefined when the key is not for the history. */
  step(key: string, text: string): string | undefined;
  reset(): void;
}

export function useHistory(chat: Chat): History {
  const back = useRef(0);
  return {
    step(key, text) {
      const said = chat.messages.value.flatMap(message => (message.role === 'user' ? [message.content] : []));
      const atHistory = back.current > 0 && text === said[said.length - back.current];
      if (!atHistory) {
        back.current = 0;
      }
      if (key === 'ArrowUp' && (text === '' || atHistory) && back.current < said.length) {
        back.current++;
        return said[said.length - back.current];
      }
      if (key === 'ArrowDown' && atHistory) {
        back.current--;
        return back.current === 0 ? '' : said[said.length - back.current];
      }
      return undefined;
    },
    reset() {
      back.current = 0;
    }
  };
}
