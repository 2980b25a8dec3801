/** The tiny built-in model: there or not, and the one command that gets it. */
import type { VNode } from 'preact';
import { t } from '../../i18n';
import type { LlmView, Store } from '../../store/types';
import { Button } from '../kit/button';
import { CopyLine } from '../kit/copy-line';
import { Section, TaskLine } from './section';
import { useTask } from './use-task';

export const STARTER_COMMAND = 'cashcode starter';

export function StarterSection({ store, llm }: { store: Store; llm: LlmView }): VNode {
  const task = useTask();
  const check = (): Promise<boolean> =>
    task.run(async () => {
      await store.settings.refresh();
      void store.models.refresh();
      return store.settings.llm.value?.starter.ready ? '' : t('Not there yet.');
    });
  return (
    <Section title={t('Tiny built-in model')} badge={llm.starter.ready ? t('Ready') : t('Not installed')}>
      {llm.starter.ready ? (
        <p class="cc-dim">
          {t(
            '{model} runs on this computer, without network. It is tiny: good for trying things out, not for work.',
            {
              model: llm.starter.model ?? ''
            }
          )}
        </p>
      ) : (
        <>
          <p class="cc-dim">{t('Run this in a terminal on the server:')}</p>
          <CopyLine text={STARTER_COMMAND} />
          <div class="cc-buttons">
            <Button onClick={() => void check()} disabled={task.busy}>
              {t('Check again')}
            </Button>
            <TaskLine task={task} waiting={t('Asking…')} />
          </div>
        </>
      )}
    </Section>
  );
}
