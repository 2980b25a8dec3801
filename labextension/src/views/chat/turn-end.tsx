/** The last line of an answer: what went wrong or why it stopped, and what it used. */
import type { VNode } from 'preact';
import { t } from '../../i18n';
import type { AssistantMessage, Store, Usage } from '../../store/types';
import { ErrorCard } from './error-card';
import { durationWords, tokenWords } from './words';

interface TurnEndProps {
  message: AssistantMessage;
  store: Store;
  retry?: () => void;
}

export function TurnEnd({ message, store, retry }: TurnEndProps): VNode | null {
  const error = message.error.value;
  if (message.running.value) return null;
  const reason = reasonWords(message);
  const usage = message.usage.value;
  return (
    <>
      {error && <ErrorCard error={error} store={store} retry={retry} />}
      {reason && <p class="cc-turn-end">{reason}</p>}
      {usage && <UsageLine usage={usage} seconds={message.durationSec.value} />}
    </>
  );
}

function reasonWords(message: AssistantMessage): string | undefined {
  switch (message.stopReason.value) {
    case 'cancelled':
      return t('Stopped');
    case 'budget':
      return t('Stopped: the turn used up its steps. Send “continue” to go on.');
    case 'loop':
      return t('Stopped: the same step came again and again without a new result.');
    case 'suppressed':
      return t('Nothing to report');
    case 'answered':
      return message.parts.value.length === 0 && !message.error.value ? t('The answer was empty') : undefined;
    case undefined:
      return undefined;
  }
}

function UsageLine({ usage, seconds }: { usage: Usage; seconds: number | undefined }): VNode {
  const total = usage.promptTokens + usage.completionTokens;
  const window = usage.contextWindow;
  const words = [t('{count} tokens', { count: `${usage.estimated ? '≈ ' : ''}${tokenWords(total)}` })];
  if (window)
    words.push(t('{percent} % of context', { percent: Math.min(100, Math.ceil((total / window) * 100)) }));
  const exact = [
    t('{prompt} tokens read, {answer} written', { prompt: usage.promptTokens, answer: usage.completionTokens })
  ];
  if (seconds !== undefined) exact.push(durationWords(seconds));
  return (
    <p class="cc-usage" title={exact.join(' · ')}>
      {words.join(' · ')}
    </p>
  );
}
