/** A call's result: the preview at once, the whole of it when somebody asks. */
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { t } from '../../i18n';
import { revealDirection } from '../../markdown/hidden';
import type { Chat, ToolState } from '../../store/types';
import { Button } from '../kit/button';
import { BoundedText } from './bounded-text';

interface FullResultProps {
  callId: string;
  state: ToolState;
  chat: Chat;
}

export function FullResult({ callId, state, chat }: FullResultProps): VNode {
  const [whole, setWhole] = useState<string>();
  const [loading, setLoading] = useState(false);
  const [problem, setProblem] = useState('');
  const hasMore = (state.truncated || state.spill !== undefined) && whole === undefined;
  const open = (): void => {
    if (loading) return;
    setLoading(true);
    setProblem('');
    chat
      .fullResult(callId)
      .then(setWhole, (error: unknown) => setProblem(error instanceof Error ? error.message : String(error)))
      .finally(() => setLoading(false));
  };
  return (
    <div class="cc-result">
      <pre class="cc-preview" tabIndex={0} role="group" aria-label={t('Result')}>
        <BoundedText text={revealDirection(whole ?? state.result)} limit={50_000} />
      </pre>
      {problem !== '' && (
        <p role="alert" class="cc-problem">
          {t('The whole result could not be loaded: {reason}', { reason: problem })}
        </p>
      )}
      {hasMore && (
        <Button look="link" busy={loading} onClick={open}>
          {t('Open full result')}
        </Button>
      )}
    </div>
  );
}
