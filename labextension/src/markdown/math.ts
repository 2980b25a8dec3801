/**
 * Mathematics in running text. It is taken out before Markdown sees it and stands in the page as text between dollar
 * signs; a host that can show mathematics gets each piece on its own, so that prices with dollar signs stay prices.
 */
import type { TokenizerAndRendererExtension, Tokens } from 'marked';

const LONGEST = 2_000;
/** Commands that load, link or style something: no formula of an answer needs them. */
const UNWANTED =
  /\\(?:href|url|html\w*|includegraphics|require|class|cssId|style|data|unicode|input|def|newcommand|let)\b/;

/** `$x$` as Pandoc reads it: no space inside the signs, no digit behind. */
const DOLLAR = /^\$(?![\s$])((?:\\[^\n]|[^\\$\n]){1,2000}?)(?<![\s\\])\$(?![\d$])/;
const DOUBLE = /^\$\$((?:\\[\s\S]|[^\\$]){1,2000}?)\$\$/;
const ROUND = /^\\\(([\s\S]{1,2000}?)\\\)/;
const SQUARE = /^\\\[([\s\S]{1,2000}?)\\\]/;

interface MathToken extends Tokens.Generic {
  type: 'math';
  text: string;
  display: boolean;
}

export const mathExtension: TokenizerAndRendererExtension = {
  name: 'math',
  level: 'inline',
  start: source => {
    const found = source.search(/\$|\\[([]/);
    return found < 0 ? undefined : found;
  },
  tokenizer(source): MathToken | undefined {
    const head = source.slice(0, LONGEST + 8);
    const display = DOUBLE.exec(head) ?? SQUARE.exec(head);
    const found = display ?? DOLLAR.exec(head) ?? ROUND.exec(head);
    if (!found || found[1].trim() === '' || /\n[ \t]*\n/.test(found[1])) return undefined;
    return { type: 'math', raw: found[0], text: found[1].trim(), display: display !== null };
  },
  renderer: token => mathHtml(String(token.text), token.display === true)
};

export function mathHtml(tex: string, display: boolean): string {
  const sign = display ? '$$' : '$';
  return `<span class="cc-math${display ? ' cc-math-display' : ''}">${escapeHtml(`${sign}${tex}${sign}`)}</span>`;
}

/** Whether a host may be asked to show this. */
export const isTypesettable = (text: string): boolean => text.length <= LONGEST + 4 && !UNWANTED.test(text);

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;'
};
export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, sign => ENTITIES[sign]);
