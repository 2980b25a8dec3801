/** All settings on one page. What is typed and not saved stays while other views are shown. */
import type { VNode } from 'preact';
import { t } from '../../i18n';
import type { Store } from '../../store/types';
import { ErrorBoundary } from '../kit/error-boundary';
import { sentenceOfChatError } from '../kit/sentence';
import { Failed, Skeleton } from '../kit/states';
import { ApiSection } from './api-section';
import { ApprovalsSection } from './approvals-section';
import { DefaultSection } from './default-section';
import { OllamaSection } from './ollama-section';
import { PersonaSection } from './persona-section';
import { StarterSection } from './starter-section';

export function SettingsView({ store }: { store: Store }): VNode {
  const { settings } = store;
  const llm = settings.llm.value;
  return (
    <div class="cc-settings">
      {settings.status.value === 'failed' && (
        <Failed sentence={sentenceOfChatError(settings.error.value)} onRetry={() => void settings.refresh()} />
      )}
      {!llm && settings.status.value === 'loading' && <Skeleton rows={8} name={t('Loading…')} />}
      {llm && (
        <ErrorBoundary>
          <h2>{t('Models')}</h2>
          <ApiSection store={store} llm={llm} />
          <OllamaSection store={store} llm={llm} />
          <StarterSection store={store} llm={llm} />
          <DefaultSection store={store} llm={llm} />
        </ErrorBoundary>
      )}
      <h2>{t('Agent')}</h2>
      <ErrorBoundary>
        <ApprovalsSection store={store} />
        <PersonaSection store={store} />
      </ErrorBoundary>
    </div>
  );
}
