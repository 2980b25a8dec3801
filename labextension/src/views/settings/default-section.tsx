/** The model of chats that have chosen none. */
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { t } from '../../i18n';
import type { LlmView, ModelChoice, Store } from '../../store/types';
import { keyOf, ModelSelect } from '../composer/model-select';
import { Button } from '../kit/button';
import { Section, TaskLine } from './section';
import { useTask } from './use-task';

export function DefaultSection({ store, llm }: { store: Store; llm: LlmView }): VNode {
  const [picked, setPicked] = useState<ModelChoice | undefined>();
  const task = useTask();
  const shown = picked ?? llm.default ?? undefined;
  const dirty = keyOf(shown) !== keyOf(llm.default ?? undefined);
  const save = (): void => {
    void task.run(async () => {
      await store.settings.saveLlm({ default: shown });
      setPicked(undefined);
      void store.models.refresh();
      return t('Saved');
    });
  };
  return (
    <Section title={t('Default')} about={t('Answers in every chat that has chosen no other.')}>
      <ModelSelect
        models={store.models}
        value={shown}
        name={t('Default model')}
        onChange={choice => {
          setPicked(choice);
          task.clear();
        }}
      />
      <div class="cc-buttons">
        <Button look={dirty ? 'primary' : 'plain'} onClick={save} disabled={task.busy || !dirty}>
          {t('Save')}
        </Button>
        <TaskLine task={task} waiting={t('Saving…')} />
      </div>
    </Section>
  );
}
