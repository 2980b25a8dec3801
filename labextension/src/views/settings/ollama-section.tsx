/** Where Ollama is. */
import type { VNode } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { t } from '../../i18n';
import type { LlmBody, LlmView, Store } from '../../store/types';
import { Button } from '../kit/button';
import { Field } from '../kit/field';
import { addressProblem, OLLAMA, plainAddress } from './address';
import { Section, TaskLine } from './section';
import { useTask } from './use-task';

export function OllamaSection({ store, llm }: { store: Store; llm: LlmView }): VNode {
  const [typed, setTyped] = useState<string | undefined>();
  const box = useRef<HTMLInputElement>(null);
  const task = useTask();
  const address = typed ?? llm.ollama.base_url;
  const dirty = plainAddress(address) !== plainAddress(llm.ollama.base_url);
  const error = addressProblem(address);

  const body = (): LlmBody => ({ ollama: { base_url: address.trim() } });
  const run = (doing: () => Promise<string>): void => {
    if (error) {
      box.current?.focus();
      return;
    }
    void task.run(doing);
  };
  return (
    <Section title="Ollama" badge={llm.ollama.ready ? t('Set up') : t('Not set up')}>
      <Field
        label={t('Ollama address')}
        value={address}
        placeholder={OLLAMA}
        error={error}
        inputRef={box}
        onInput={value => {
          setTyped(value);
          task.clear();
        }}
      />
      <div class="cc-buttons">
        <Button
          disabled={task.busy || !address.trim()}
          onClick={() => run(async () => (await store.settings.testLlm(body())).message)}
        >
          {t('Test connection')}
        </Button>
        <Button
          look={dirty ? 'primary' : 'plain'}
          disabled={task.busy || !dirty}
          onClick={() =>
            run(async () => {
              await store.settings.saveLlm(body());
              setTyped(undefined);
              void store.models.refresh();
              return t('Saved');
            })
          }
        >
          {t('Save')}
        </Button>
        <TaskLine task={task} waiting={t('Asking…')} />
      </div>
    </Section>
  );
}
