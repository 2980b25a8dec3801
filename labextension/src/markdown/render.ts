/** One block of Markdown as nodes: parsed by marked, allowed by `sanitize`, remembered by its content. */
import { Marked } from 'marked';
import type { Tokens } from 'marked';
import { t } from '../i18n';
import { isTooHard } from './bounds';
import { hostOf, isInlinePicture, safeLink } from './links';
import { escapeHtml, mathExtension } from './math';
import { sanitize } from './sanitize';

/** Tags of running text that people and models write by hand; they carry no attribute here. */
const HARMLESS = /^<(\/?)(b|br|del|em|i|ins|kbd|mark|s|small|strong|sub|sup|u)\s*\/?>$/i;

const marked = new Marked({ gfm: true, async: false }, { extensions: [mathExtension] });
marked.use({
  renderer: {
    html({ text }: Tokens.HTML | Tokens.Tag): string {
      const tag = HARMLESS.exec(text.trim());
      return tag ? `<${tag[1]}${tag[2].toLowerCase()}>` : escapeHtml(text);
    },
    link({ href, tokens }: Tokens.Link): string {
      const words = this.parser.parseInline(tokens);
      const link = safeLink(href);
      return link === undefined ? words : `<a href="${escapeHtml(link)}">${words}</a>`;
    },
    image({ href, text }: Tokens.Image): string {
      const words = escapeHtml(text);
      if (isInlinePicture(href)) return `<img class="cc-picture" src="${href}" alt="${words}">`;
      const link = safeLink(href);
      const label = t('image: {alt}', { alt: text.slice(0, 200) || t('no description') });
      if (link === undefined) return `<span class="cc-picture-blocked">${escapeHtml(label)}</span>`;
      const name = escapeHtml(`${label} (${hostOf(link)})`);
      return `<a class="cc-picture-blocked" href="${escapeHtml(link)}">${name}</a>`;
    },
    code({ text, lang }: Tokens.Code): string {
      const language = /^[\w+#.-]{1,40}/.exec(lang ?? '')?.[0];
      return `<pre><code${language ? ` class="language-${language}"` : ''}>${escapeHtml(text)}</code></pre>`;
    },
    checkbox({ checked }: Tokens.Checkbox): string {
      return `<input class="cc-checkbox" type="checkbox" disabled${checked ? ' checked' : ''}> `;
    }
  }
});

const REMEMBERED = 400;
const memory = new Map<string, DocumentFragment | undefined>();

/** Nodes for `source`, the caller's own; undefined when it is shown as plain text instead. */
export function render(source: string): DocumentFragment | undefined {
  const known = memory.has(source) ? memory.get(source) : fresh(source);
  memory.delete(source);
  memory.set(source, known);
  if (memory.size > REMEMBERED) memory.delete(memory.keys().next().value ?? '');
  return known && document.importNode(known, true);
}

/** As `render` for an end that changes with the next words: not worth remembering. */
export function renderOpen(source: string): DocumentFragment | undefined {
  return memory.has(source) ? render(source) : fresh(source);
}

function fresh(source: string): DocumentFragment | undefined {
  if (isTooHard(source)) return undefined;
  try {
    return sanitize(marked.parse(source) as string);
  } catch {
    // Nested deeper than the parser can follow.
    return undefined;
  }
}
