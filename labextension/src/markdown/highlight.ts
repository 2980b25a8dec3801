/** Code in colours: highlight.js with the languages of a data scientist's day, its output as nodes, never as HTML. */
import hljs from 'highlight.js/lib/core';
import bash from 'highlight.js/lib/languages/bash';
import css from 'highlight.js/lib/languages/css';
import diff from 'highlight.js/lib/languages/diff';
import javascript from 'highlight.js/lib/languages/javascript';
import json from 'highlight.js/lib/languages/json';
import markdown from 'highlight.js/lib/languages/markdown';
import python from 'highlight.js/lib/languages/python';
import r from 'highlight.js/lib/languages/r';
import shell from 'highlight.js/lib/languages/shell';
import sql from 'highlight.js/lib/languages/sql';
import typescript from 'highlight.js/lib/languages/typescript';
import xml from 'highlight.js/lib/languages/xml';
import yaml from 'highlight.js/lib/languages/yaml';

const LANGUAGES = { bash, css, diff, javascript, json, markdown, python, r, shell, sql, typescript, xml, yaml };
for (const [name, grammar] of Object.entries(LANGUAGES)) hljs.registerLanguage(name, grammar);
hljs.registerAliases(['ipython', 'ipython3', 'python3'], { languageName: 'python' });

/** Longer code stays plain: colours are not worth a stall. */
const LONGEST = 50_000;
const LONGEST_LINE = 5_000;

/** Nodes for `code`, undefined when it stays plain. */
export function highlight(code: string, language: string): DocumentFragment | undefined {
  const name = language.toLowerCase();
  if (code.length > LONGEST || !hljs.getLanguage(name)) return undefined;
  if (code.split('\n').some(line => line.length > LONGEST_LINE)) return undefined;
  try {
    return nodes(hljs.highlight(code, { language: name, ignoreIllegals: true }).value);
  } catch {
    return undefined;
  }
}

const PIECE = /<span class="([\w\s-]*)">|(<\/span>)|([^<]+)/g;
const ENTITY: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#x27;': "'"
};

/** The spans and texts that highlight.js writes; there is nothing else that this can make. */
function nodes(html: string): DocumentFragment {
  const fragment = document.createDocumentFragment();
  const open: Node[] = [fragment];
  for (const [, classes, closing, text] of html.matchAll(PIECE)) {
    const parent = open[open.length - 1];
    if (text !== undefined) {
      parent.appendChild(document.createTextNode(text.replace(/&(?:amp|lt|gt|quot|#x27);/g, sign => ENTITY[sign])));
    } else if (closing) {
      if (open.length > 1) open.pop();
    } else {
      const span = document.createElement('span');
      span.className = classes;
      parent.appendChild(span);
      open.push(span);
    }
  }
  return fragment;
}
