/** A block of code with what can be done with it. It gets its colours once, when it is complete. */
import type { VNode } from 'preact';
import { useContext, useEffect, useRef, useState } from 'preact/hooks';
import { t } from '../i18n';
import { HostContext } from '../views/host-context';
import { BoundedText } from '../views/chat/bounded-text';
import { copyText } from '../views/chat/clipboard';
import { memo } from '../views/chat/memo';
import { IconButton } from '../views/kit/button';
import { revealDirection } from './hidden';
import { highlight } from './highlight';
import { whenIdle } from './when-idle';

export interface CodeBlockProps {
  text: string;
  language: string;
  /** False while it grows. */
  complete: boolean;
}

export const CodeBlock = memo(function CodeBlock({ text, language, complete }: CodeBlockProps): VNode {
  const [colours, setColours] = useState<{ of: string; nodes: DocumentFragment }>();
  const shown = revealDirection(text);
  useEffect(() => {
    if (!complete || language === '') return undefined;
    return whenIdle(() => {
      const nodes = highlight(shown, language);
      if (nodes) setColours({ of: shown, nodes });
    });
  }, [complete, language, shown]);
  const coloured = complete && colours?.of === shown ? colours.nodes : undefined;
  return (
    <div class="cc-codeblock">
      <Toolbar text={text} language={language} />
      {/* Wide code scrolls in its own box, which a keyboard must reach. */}
      <pre class="cc-codeblock-text" tabIndex={0} dir="ltr" aria-label={t('Code')} role="group">
        <code>
          {coloured ? <Nodes key="coloured" nodes={coloured} /> : <BoundedText text={shown} limit={100_000} />}
        </code>
      </pre>
    </div>
  );
});

/** Nodes made elsewhere, put in place of this element's content. */
function Nodes({ nodes }: { nodes: DocumentFragment }): VNode {
  const ref = useRef<HTMLSpanElement>(null);
  useEffect(() => ref.current?.replaceChildren(nodes.cloneNode(true)), [nodes]);
  return <span ref={ref} />;
}

function Toolbar({ text, language }: { text: string; language: string }): VNode {
  const { notebook } = useContext(HostContext);
  const [inNotebook, setInNotebook] = useState(() => notebook?.available() ?? false);
  const [told, setTold] = useState('');
  const [problem, setProblem] = useState('');
  const look = (): void => setInNotebook(notebook?.available() ?? false);
  useEffect(() => {
    if (told === '') return undefined;
    const timer = setTimeout(() => setTold(''), 2000);
    return () => clearTimeout(timer);
  }, [told]);

  const act = (work: Promise<void>, done: string, failed: (reason: string) => string): void => {
    setProblem('');
    work.then(
      () => setTold(done),
      (error: unknown) => setProblem(failed(error instanceof Error ? error.message : String(error)))
    );
  };
  const copy = (): void =>
    act(copyText(text), t('Copied'), reason => t('The code could not be copied: {reason}', { reason }));
  const insert = (): void =>
    act(notebook?.insertBelow(text) ?? Promise.resolve(), t('Inserted'), reason =>
      t('The code could not be inserted: {reason}', { reason })
    );
  const replace = (): void =>
    act(notebook?.replaceCell(text) ?? Promise.resolve(), t('Replaced'), reason =>
      t('The cell could not be replaced: {reason}', { reason })
    );
  return (
    <>
      <div class="cc-codeblock-bar" onPointerEnter={look} onFocusCapture={look}>
        <span class="cc-codeblock-language">{language.slice(0, 40)}</span>
        <span class="cc-codeblock-told" role="status">
          {told}
        </span>
        <span class="cc-codeblock-actions">
          <IconButton name={t('Copy code')} icon={told === t('Copied') ? 'check' : 'copy'} onClick={copy} />
          {inNotebook && <IconButton name={t('Insert below')} icon="insert-below" onClick={insert} />}
          {inNotebook && <IconButton name={t('Replace cell')} icon="replace" onClick={replace} />}
        </span>
      </div>
      {problem !== '' && (
        <p class="cc-problem" role="alert">
          {problem}
        </p>
      )}
    </>
  );
}
