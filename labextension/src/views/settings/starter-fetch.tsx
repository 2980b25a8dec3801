/** How a person gets the tiny built-in model: the one command, and a look whether it is there now. */
import type { VNode } from 'preact';
import { t } from '../../i18n';
import type { Store } from '../../store/types';
import { Button } from '../kit/button';
import { CopyLine } from '../kit/copy-line';
import { TaskLine } from './section';
import type { Task } from './use-task';

const STARTER_COMMAND = 'cashcode starter';

export function StarterFetch({ store, task }: { store: Store; task: Task }): VNode {
  const check = (): Promise<boolean> =>
    task.run(async () => {
      await store.settings.refresh();
      void store.models.refresh();
      return store.settings.llm.value?.starter.ready ? '' : t('Not there yet.');
    });
  return (
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
  );
}
