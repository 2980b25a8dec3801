/** Text of any length that shows its beginning first: a megabyte is laid out only when somebody asks for it. */
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { languageTag, t } from '../../i18n';
import { Button } from '../kit/button';

/** What one text node holds: layout of a growing text then touches only its last piece. */
const PIECE = 4_000;

export interface BoundedTextProps {
  text: string;
  limit?: number;
}

export function BoundedText({ text, limit = 20_000 }: BoundedTextProps): VNode {
  const [all, setAll] = useState(false);
  const shown = all || text.length <= limit ? text : text.slice(0, limit);
  return (
    <>
      {pieces(shown).map((piece, index) => (
        <span key={index} class="cc-piece">
          {piece}
        </span>
      ))}
      {shown.length < text.length && (
        <span class="cc-show-all">
          {'…'}
          <Button look="link" onClick={() => setAll(true)}>
            {t('Show all {count} characters', { count: text.length.toLocaleString(languageTag()) })}
          </Button>
        </span>
      )}
    </>
  );
}

/** Cut behind a line where there is one. */
function pieces(text: string): string[] {
  const found: string[] = [];
  for (let at = 0; at < text.length;) {
    let end = at + PIECE;
    if (end < text.length) {
      const line = text.lastIndexOf('\n', end);
      if (line > at) end = line + 1;
      else if (/[\ud800-\udbff]/.test(text[end - 1])) end -= 1;
    }
    found.push(text.slice(at, end));
    at = end;
  }
  return found;
}
