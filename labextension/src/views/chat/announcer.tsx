/**
 * What a screen reader hears of a running answer: whole sentences, at most every few seconds and a few at a time,
 * then that it is over. The answer itself is no live region, else every word would interrupt the one before.
 */
import { effect } from '@preact/signals';
import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { t } from '../../i18n';
import type { AssistantMessage, Chat } from '../../store/types';

const PAUSE = 4_000;
const LONGEST = 300;

export function Announcer({ chat }: { chat: Chat }): VNode {
  const [words, setWords] = useState('');
  useEffect(() => {
    let heard = 0;
    let followed: AssistantMessage | undefined;
    const tick = (): void => {
      if (!followed) return;
      const text = textOf(followed).slice(heard, heard + LONGEST * 4);
      const end = sentenceEnd(text, LONGEST);
      if (end === 0) return;
      heard += end;
      setWords(spoken(text.slice(0, end)));
    };
    const timer = setInterval(tick, PAUSE);
    const stop = effect(() => {
      const last = chat.messages.value.at(-1);
      if (last?.role !== 'assistant') return;
      if (last.running.value) {
        if (last === followed) return;
        [followed, heard] = [last, 0];
        setWords(''); // else an answer that ends in the same words as the one before would change nothing
      } else if (last === followed) {
        const rest = spoken(textOf(last).slice(heard));
        followed = undefined;
        const short = rest.length <= LONGEST ? rest : t('The rest of the answer is in the chat.');
        setWords(`${short} ${t('The answer is complete.')}`.trim());
      }
    });
    return () => {
      clearInterval(timer);
      stop();
    };
  }, [chat]);
  return (
    <div class="cc-hidden" role="status" aria-live="polite">
      {words}
    </div>
  );
}

function textOf(message: AssistantMessage): string {
  return message.parts
    .peek()
    .map(part => (part.kind === 'text' ? part.text.peek() : ''))
    .join('\n');
}

/** Where the last whole sentence within `most` characters ends; a longer one is cut. */
function sentenceEnd(text: string, most: number): number {
  let end = 0;
  for (const { index } of text.matchAll(/[.!?。！？:：](?=\s)|[。！？]|\n/g)) {
    if (index + 1 > most) break;
    end = index + 1;
  }
  return end === 0 && text.length > most ? most : end;
}

const spoken = (markdown: string): string =>
  markdown
    .replace(/[`*_#>|~]+/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
