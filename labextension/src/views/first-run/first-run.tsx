/** The three ways to get going. Each looks for itself what is there, and connects with one press. */
import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { t } from '../../i18n';
import type { LlmBody, LlmView, Provider, Store } from '../../store/types';
import { Button } from '../kit/button';
import { Field } from '../kit/field';
import { addressProblem, keyProblem, OLLAMA } from '../settings/address';
import { Section, TaskLine } from '../settings/section';
import { StarterFetch } from '../settings/starter-fetch';
import { useTask, type Task } from '../settings/use-task';
import { connect } from './connect';

export interface FirstRunProps {
  store: Store;
  llm: LlmView;
  /** A model is connected; the sentence says which. */
  onConnected(sentence: string): void;
}

export function FirstRun(props: FirstRunProps): VNode {
  return (
    <div class="cc-first-run">
      <h2>{t('Connect a model')}</h2>
      <p class="cc-dim">{t('CashCode needs one to answer. Choose a way; the settings let you change it later.')}</p>
      <StarterCard {...props} />
      <OllamaCard {...props} />
      <ApiCard {...props} />
    </div>
  );
}

function useConnect(
  { store, onConnected }: FirstRunProps,
  task: Task,
  provider: Provider
): (body?: LlmBody) => void {
  return body => {
    void task.run(async () => {
      const sentence = await connect(store, provider, body);
      onConnected(sentence);
      return sentence;
    });
  };
}

function StarterCard(props: FirstRunProps): VNode {
  const { store, llm } = props;
  const task = useTask();
  const join = useConnect(props, task, 'starter');
  return (
    <Section title={t('Try the tiny built-in model')} badge={llm.starter.ready ? t('Ready') : t('Not installed')}>
      <p class="cc-dim">{t('Runs on this computer, without network and account. Good for a first look.')}</p>
      {llm.starter.ready ? (
        <div class="cc-buttons">
          <Button look="primary" onClick={() => join()} disabled={task.busy}>
            {t('Use it')}
          </Button>
          <TaskLine task={task} waiting={t('Connecting…')} />
        </div>
      ) : (
        <StarterFetch store={store} task={task} />
      )}
    </Section>
  );
}

function OllamaCard(props: FirstRunProps): VNode {
  const { store, llm } = props;
  const [address, setAddress] = useState(llm.ollama.base_url || OLLAMA);
  const [found, setFound] = useState(false);
  const task = useTask();
  const join = useConnect(props, task, 'ollama');
  const error = addressProblem(address);
  const body: LlmBody = { ollama: { base_url: address.trim() } };
  const look = async (): Promise<void> => {
    if (address.trim() && !error) {
      setFound(await task.run(async () => (await store.settings.testLlm(body)).message));
    }
  };
  /** Nobody asked for this one, and most computers have no Ollama: that it is not there is no error. */
  const glance = async (): Promise<void> => {
    let there = true;
    await task.run(async () => {
      try {
        return (await store.settings.testLlm(body)).message;
      } catch {
        there = false;
        return t('Ollama does not answer here.');
      }
    });
    setFound(there);
  };
  useEffect(() => void glance(), []);
  return (
    <Section title={t('Connect Ollama')} badge={found ? t('Found') : undefined}>
      <Field
        label={t('Ollama address')}
        value={address}
        error={error}
        onInput={value => {
          setAddress(value);
          setFound(false);
          task.clear();
        }}
        onChange={() => void look()}
      />
      <div class="cc-buttons">
        <Button
          look={found ? 'primary' : 'plain'}
          onClick={() => join(body)}
          disabled={task.busy || !address.trim() || error !== ''}
        >
          {t('Connect')}
        </Button>
        {!found && (
          <Button onClick={() => void look()} disabled={task.busy}>
            {t('Test connection')}
          </Button>
        )}
        <TaskLine task={task} waiting={t('Looking for Ollama…')} />
      </div>
    </Section>
  );
}

function ApiCard(props: FirstRunProps): VNode {
  const { store, llm } = props;
  const [url, setUrl] = useState(llm.openai_compatible.base_url);
  const [key, setKey] = useState('');
  const [found, setFound] = useState(false);
  const task = useTask();
  const join = useConnect(props, task, 'openai_compatible');
  const urlError = addressProblem(url);
  const keyError = keyProblem(key);
  const usable = url.trim() !== '' && !urlError && !keyError;
  const body: LlmBody = {
    openai_compatible: { base_url: url.trim(), ...(key.trim() ? { api_key: key.trim() } : {}) }
  };
  const look = async (): Promise<void> => {
    if (usable) {
      setFound(await task.run(async () => (await store.settings.testLlm(body)).message));
    }
  };
  const edit = (): void => {
    setFound(false);
    task.clear();
  };
  return (
    <Section title={t('Connect an API')} badge={found ? t('Found') : undefined}>
      <p class="cc-dim">{t('OpenAI, DeepSeek, vLLM, LM Studio and others that speak OpenAI’s language.')}</p>
      <Field
        label={t('Base URL')}
        value={url}
        placeholder="https://api.example.com/v1"
        error={urlError}
        onInput={value => {
          setUrl(value);
          edit();
        }}
        onChange={() => key.trim() !== '' && void look()}
      />
      <Field
        label={t('API key')}
        value={key}
        secret
        error={keyError}
        hint={llm.openai_compatible.api_key_configured ? t('Set. Type a new key to replace it.') : undefined}
        onInput={value => {
          setKey(value);
          edit();
        }}
        onChange={() => void look()}
      />
      <div class="cc-buttons">
        <Button look={found ? 'primary' : 'plain'} onClick={() => join(body)} disabled={task.busy || !usable}>
          {t('Connect')}
        </Button>
        {!found && (
          <Button onClick={() => void look()} disabled={task.busy || !usable}>
            {t('Test connection')}
          </Button>
        )}
        <TaskLine task={task} waiting={t('Asking…')} />
      </div>
    </Section>
  );
}
