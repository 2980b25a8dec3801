/** The tiny built-in model: there or not, and the one command that gets it. */
import type { VNode } from 'preact';
import { t } from '../../i18n';
import type { LlmView, Store } from '../../store/types';
import { Section } from './section';
import { StarterFetch } from './starter-fetch';
import { useTask } from './use-task';

export function StarterSection({ store, llm }: { store: Store; llm: LlmView }): VNode {
  const task = useTask();
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
        <StarterFetch store={store} task={task} />
      )}
    </Section>
  );
}
