/** SOUL.md, who the agent is. Somebody else's change is shown beside one's own; neither is thrown away unasked. */
import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { t } from '../../i18n';
import type { PersonaView, Store } from '../../store/types';
import { ApiError } from '../../transport';
import { Button } from '../kit/button';
import { Confirm } from '../kit/confirm';
import { useUnique } from '../kit/id';
import { sentenceOf } from '../kit/sentence';
import { Failed, Skeleton } from '../kit/states';
import { Section, TaskLine } from './section';
import { useTask } from './use-task';

const LARGEST_KIB = 64;

export function PersonaSection({ store }: { store: Store }): VNode {
  const id = useUnique();
  const [saved, setSaved] = useState<PersonaView | undefined>();
  const [draft, setDraft] = useState<string | undefined>();
  const [problem, setProblem] = useState('');
  const [asking, setAsking] = useState(false);
  const [theirs, setTheirs] = useState<PersonaView | undefined>();
  const box = useRef<HTMLTextAreaElement>(null);
  const task = useTask();
  const load = (): void => {
    setProblem('');
    store.settings.persona().then(setSaved, error => setProblem(sentenceOf(error)));
  };
  useEffect(load, []);

  const text = draft ?? saved?.text ?? '';
  const dirty = draft !== undefined && draft !== saved?.text;
  const size = Math.ceil(new TextEncoder().encode(text).length / 1024);
  const tooLong = size > LARGEST_KIB ? t('At most {limit} KB; this has {size}.', { limit: LARGEST_KIB, size }) : '';

  const keep = (words: string, hash: string): void => {
    void task.run(async () => {
      try {
        const now = await store.settings.savePersona(words, hash);
        setSaved(now);
        setDraft(undefined);
        setTheirs(undefined);
        return now.builtin ? t('The built-in persona is back.') : t('Saved');
      } catch (error) {
        if (error instanceof ApiError && error.code === 'conflict') {
          setDraft(words);
          setTheirs(await store.settings.persona());
          return '';
        }
        throw error;
      }
    });
  };
  return (
    <Section
      title={t('Persona')}
      badge={saved?.builtin ? t('Built-in') : undefined}
      about={t('SOUL.md: who the agent is and how it talks, in every chat.')}
    >
      {problem && !saved && <Failed sentence={problem} onRetry={load} />}
      {!saved && !problem && <Skeleton rows={4} name={t('Loading…')} />}
      {saved && (
        <>
          <textarea
            class="cc-input cc-persona"
            aria-label={t('Persona')}
            aria-invalid={tooLong ? true : undefined}
            aria-describedby={`${id}-rule`}
            rows={10}
            value={text}
            ref={box}
            onInput={event => {
              setDraft(event.currentTarget.value);
              task.clear();
            }}
          />
          <p id={`${id}-rule`} class="cc-field-error" aria-live="polite">
            {tooLong}
          </p>
          {theirs && (
            <Conflict
              mine={text}
              theirs={theirs}
              busy={task.busy}
              onMine={() => keep(text, theirs.hash)}
              onTheirs={() => {
                setSaved(theirs);
                setDraft(undefined);
                setTheirs(undefined);
                box.current?.focus();
              }}
            />
          )}
          {asking && (
            <Confirm
              question={t('Return to the built-in persona? Your text is removed.')}
              action={t('Return')}
              onConfirm={() => {
                setAsking(false);
                keep('', saved.hash);
              }}
              onCancel={() => setAsking(false)}
            />
          )}
          <div class="cc-buttons">
            <Button
              look={dirty && !theirs ? 'primary' : 'plain'}
              onClick={() => keep(text, saved.hash)}
              disabled={task.busy || !dirty || tooLong !== '' || theirs !== undefined}
            >
              {t('Save')}
            </Button>
            {dirty && !theirs && (
              <Button onClick={() => setDraft(undefined)} disabled={task.busy}>
                {t('Undo')}
              </Button>
            )}
            {!saved.builtin && !asking && !theirs && (
              <Button onClick={() => setAsking(true)} disabled={task.busy}>
                {t('Return to built-in')}
              </Button>
            )}
            <TaskLine task={task} waiting={t('Saving…')} />
          </div>
        </>
      )}
    </Section>
  );
}

interface ConflictProps {
  mine: string;
  theirs: PersonaView;
  busy: boolean;
  onMine(): void;
  onTheirs(): void;
}

function Conflict({ mine, theirs, busy, onMine, onTheirs }: ConflictProps): VNode {
  const id = useUnique();
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => place.current?.focus(), []);
  return (
    <div class="cc-confirm" role="alertdialog" aria-labelledby={id} tabIndex={-1} ref={place}>
      <p id={id}>{t('The persona was changed elsewhere meanwhile. Which one shall stay?')}</p>
      <div class="cc-versions">
        <figure>
          <figcaption>{t('Yours')}</figcaption>
          <pre tabIndex={0}>{mine}</pre>
        </figure>
        <figure>
          <figcaption>{theirs.builtin ? t('Theirs (built-in)') : t('Theirs')}</figcaption>
          <pre tabIndex={0}>{theirs.text}</pre>
        </figure>
      </div>
      <div class="cc-buttons">
        <Button onClick={onMine} disabled={busy}>
          {t('Keep mine')}
        </Button>
        <Button onClick={onTheirs} disabled={busy}>
          {t('Take theirs')}
        </Button>
      </div>
    </div>
  );
}
