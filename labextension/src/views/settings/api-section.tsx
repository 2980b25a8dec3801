/** An API that speaks OpenAI's language: its address and key. The key goes in and is never shown again. */
import type { VNode } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { t } from '../../i18n';
import type { LlmBody, LlmView, Store } from '../../store/types';
import { ApiError } from '../../transport';
import { Button } from '../kit/button';
import { Field } from '../kit/field';
import { addressProblem, keyProblem, plainAddress } from './address';
import { Section, TaskLine } from './section';
import { useTask } from './use-task';

export function ApiSection({ store, llm }: { store: Store; llm: LlmView }): VNode {
  const saved = llm.openai_compatible;
  const [typedUrl, setUrl] = useState<string | undefined>();
  const [key, setKey] = useState('');
  const [clearing, setClearing] = useState(false);
  const [refused, setRefused] = useState('');
  const urlBox = useRef<HTMLInputElement>(null);
  const keyBox = useRef<HTMLInputElement>(null);
  const task = useTask();

  const url = typedUrl ?? saved.base_url;
  const changed = plainAddress(url) !== plainAddress(saved.base_url);
  const dirty = changed || key !== '' || clearing;
  const urlError =
    addressProblem(url) || (key.trim() && !url.trim() ? t('The key needs the address it is for.') : '');
  const keyNeeded = changed && url.trim() !== '' && saved.api_key_configured && !key.trim() && !clearing;
  const keyError =
    keyProblem(key) ||
    (keyNeeded
      ? t('The address changed, so enter the key again or clear it: a key is only sent where it belongs.')
      : '') ||
    refused;

  const body = (): LlmBody => ({
    openai_compatible: {
      base_url: url.trim(),
      ...(key.trim() ? { api_key: key.trim() } : {}),
      ...(clearing ? { clear_api_key: true } : {})
    }
  });
  const isReady = (): boolean => {
    if (urlError) {
      urlBox.current?.focus();
    } else if (keyError) {
      keyBox.current?.focus();
    }
    return !urlError && !keyError;
  };
  const ownError = (error: unknown): boolean => {
    if (error instanceof ApiError && error.code === 'key_required') {
      setRefused(error.detail);
      keyBox.current?.focus();
      return true;
    }
    return false;
  };
  const test = (): void => {
    if (isReady()) {
      void task.run(async () => (await store.settings.testLlm(body())).message, ownError);
    }
  };
  const save = (): void => {
    if (isReady()) {
      void task.run(async () => {
        await store.settings.saveLlm(body());
        setUrl(undefined);
        setKey('');
        setClearing(false);
        void store.models.refresh();
        return t('Saved');
      }, ownError);
    }
  };
  const edit = (): void => {
    setRefused('');
    task.clear();
  };
  const keyHint = clearing
    ? t('The key is removed when you save.')
    : key
      ? t('Replaces the key when you save.')
      : saved.api_key_configured
        ? t('Set. Type a new key to replace it.')
        : t('Not set.');
  return (
    <Section title={t('Generic API')} badge={saved.ready ? t('Set up') : t('Not set up')}>
      <Field
        label={t('Base URL')}
        value={url}
        placeholder="https://api.example.com/v1"
        error={urlError}
        inputRef={urlBox}
        onInput={value => {
          setUrl(value);
          edit();
        }}
      />
      <Field
        label={t('API key')}
        value={key}
        secret
        placeholder={saved.api_key_configured && !clearing ? '••••••••' : undefined}
        error={keyError}
        hint={keyHint}
        inputRef={keyBox}
        onInput={value => {
          setKey(value);
          setClearing(false);
          edit();
        }}
      >
        {clearing || key ? (
          <Button
            onClick={() => {
              setKey('');
              setClearing(false);
              edit();
              keyBox.current?.focus();
            }}
          >
            {t('Undo')}
          </Button>
        ) : (
          saved.api_key_configured && (
            <Button
              onClick={() => {
                setClearing(true);
                edit();
              }}
            >
              {t('Clear key')}
            </Button>
          )
        )}
      </Field>
      <div class="cc-buttons">
        <Button onClick={test} disabled={task.busy || !url.trim()}>
          {t('Test connection')}
        </Button>
        <Button look={dirty ? 'primary' : 'plain'} onClick={save} disabled={task.busy || !dirty}>
          {t('Save')}
        </Button>
        <TaskLine task={task} waiting={t('Asking…')} />
      </div>
    </Section>
  );
}
