/** Which model answers: a native list grouped by provider, with what is wrong at a provider said in its group. */
import type { Ref, VNode } from 'preact';
import { useState } from 'preact/hooks';
import { t } from '../../i18n';
import type { ModelChoice, ModelRow, Models, Provider } from '../../store/types';
import { IconButton } from '../kit/button';
import { Choice } from '../kit/choice';
import { sentenceOfChatError } from '../kit/sentence';

const PROVIDERS: readonly Provider[] = ['openai_compatible', 'ollama', 'starter'];

export const providerName = (provider: Provider): string =>
  ({ openai_compatible: t('API'), ollama: 'Ollama', starter: t('Built in') })[provider];

export const keyOf = (choice: ModelChoice | undefined): string =>
  choice ? `${choice.provider}:${choice.model}` : '';

/** A model's id may have colons, a provider's has none. */
export function choiceOf(key: string): ModelChoice | undefined {
  const at = key.indexOf(':');
  const provider = PROVIDERS.find(name => name === key.slice(0, at));
  return provider && key.length > at + 1 ? { provider, model: key.slice(at + 1) } : undefined;
}

export interface ModelSelectProps {
  models: Models;
  value: ModelChoice | undefined;
  onChange(choice: ModelChoice | undefined): void;
  name?: string;
  labelId?: string;
  selectRef?: Ref<HTMLSelectElement>;
}

export function ModelSelect({ models, value, onChange, name, labelId, selectRef }: ModelSelectProps): VNode {
  const [asking, setAsking] = useState(false);
  const rows = models.rows.value;
  const listed = rows.some(row => keyOf(row) === keyOf(value));
  const refresh = async (): Promise<void> => {
    setAsking(true);
    try {
      await models.refresh();
    } finally {
      setAsking(false);
    }
  };
  const loading = asking || models.status.value === 'loading';
  return (
    <span class="cc-model">
      <Choice
        name={name}
        labelId={labelId}
        value={keyOf(value)}
        title={value ? `${providerName(value.provider)}: ${value.model}` : undefined}
        onChange={key => onChange(choiceOf(key))}
        selectRef={selectRef}
      >
        {!value && (
          <option value="">{rows.length || !loading ? t('Choose a model') : t('Looking for models…')}</option>
        )}
        {value && !listed && <option value={keyOf(value)}>{value.model}</option>}
        {PROVIDERS.map(provider => (
          <Group key={provider} provider={provider} models={models} rows={rows} />
        ))}
        {models.status.value === 'failed' && <option disabled>{sentenceOfChatError(models.error.value)}</option>}
      </Choice>
      <IconButton name={t('Refresh models')} icon="refresh" disabled={loading} onClick={() => void refresh()} />
      <span class="cc-hidden" role="status">
        {loading ? t('Looking for models…') : ''}
      </span>
    </span>
  );
}

function Group({ provider, models, rows }: { provider: Provider; models: Models; rows: ModelRow[] }): VNode | null {
  const mine = rows.filter(row => row.provider === provider);
  const error = models.providers.value[provider]?.error;
  if (mine.length === 0 && !error) {
    return null;
  }
  return (
    <optgroup label={providerName(provider)}>
      {mine.map(row => (
        <option value={keyOf(row)} key={row.model}>
          {provider === 'starter' ? t('{model} (tiny model)', { model: row.model }) : row.model}
        </option>
      ))}
      {error && <option disabled>{error}</option>}
    </optgroup>
  );
}
