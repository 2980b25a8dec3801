/** One block of an answer in the page. It is rendered again only when its own text changes. */
import { render as renderRoot } from 'preact';
import type { VNode } from 'preact';
import { useContext, useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import type { Host } from '../host';
import { t } from '../i18n';
import { BoundedText } from '../views/chat/bounded-text';
import { HostContext } from '../views/host-context';
import { memo } from '../views/chat/memo';
import { CodeBlock } from './code-block';
import { revealDirection } from './hidden';
import { isTypesettable } from './math';
import { render, renderOpen } from './render';

export interface TextBlockProps {
  source: string;
  settled: boolean;
}

export const TextBlock = memo(function TextBlock({ source, settled }: TextBlockProps): VNode {
  const host = useContext(HostContext);
  const ref = useRef<HTMLDivElement>(null);
  const nodes = useMemo(() => (settled ? render(source) : renderOpen(source)), [source, settled, host]);
  useLayoutEffect(() => {
    if (!ref.current || !nodes) return undefined;
    const release = furnish(nodes, host, settled);
    ref.current.replaceChildren(nodes);
    return release;
  }, [nodes, settled, host]);
  useEffect(() => {
    if (settled && ref.current) typeset(ref.current, host);
  }, [source, settled, host]);
  if (!nodes) return <PlainBlock text={source} />;
  return <div class="cc-block" dir="auto" ref={ref} key="rich" />;
});

function PlainBlock({ text }: { text: string }): VNode {
  return (
    <div class="cc-block cc-block-plain" dir="auto" key="plain">
      <p class="cc-dim">{t('Too long or too nested to be formatted; shown as plain text.')}</p>
      <div class="cc-plain-text">
        <BoundedText text={revealDirection(text)} />
      </div>
    </div>
  );
}

export const MathBlock = memo(function MathBlock({ source, settled }: TextBlockProps): VNode {
  const host = useContext(HostContext);
  const ref = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const box = ref.current;
    if (!box) return;
    const text = document.createElement('span');
    text.className = 'cc-math cc-math-display';
    text.textContent = `$$${source}$$`;
    box.replaceChildren(text);
    if (settled) typeset(box, host);
  }, [source, settled, host]);
  return <div class="cc-block" ref={ref} tabIndex={0} role="group" aria-label={t('Formula')} />;
});

/** Ask the host for each piece of mathematics on its own. */
function typeset(box: HTMLElement, host: Host): void {
  if (!host.typeset) return;
  for (const piece of box.querySelectorAll<HTMLElement>('.cc-math:not(.cc-math-set)')) {
    if (!isTypesettable(piece.textContent ?? '')) continue;
    piece.classList.add('cc-math-set');
    host.typeset(piece);
  }
}

/** Give nested code its toolbar and wide tables their own box; the answer takes the toolbars away. */
function furnish(nodes: DocumentFragment, host: Host, settled: boolean): () => void {
  const roots: HTMLElement[] = [];
  for (const pre of nodes.querySelectorAll('pre')) {
    const code = pre.querySelector('code');
    const language = /^language-(.+)$/.exec(code?.className ?? '')?.[1] ?? '';
    const root = document.createElement('div');
    const text = (pre.textContent ?? '').replace(/\n$/, '');
    pre.replaceWith(root);
    renderRoot(
      <HostContext.Provider value={host}>
        <CodeBlock text={text} language={language} complete={settled} />
      </HostContext.Provider>,
      root
    );
    roots.push(root);
  }
  for (const table of nodes.querySelectorAll('table')) {
    const box = document.createElement('div');
    box.className = 'cc-table';
    box.tabIndex = 0;
    box.setAttribute('role', 'group');
    box.setAttribute('aria-label', t('Table'));
    table.replaceWith(box);
    box.append(table);
  }
  for (const item of nodes.querySelectorAll('.cc-checkbox')) {
    item.closest('li')?.classList.add('cc-checkbox-item');
    item.setAttribute('aria-label', item.hasAttribute('checked') ? t('Done') : t('To do'));
  }
  return () => {
    for (const root of roots) renderRoot(null, root);
  };
}
