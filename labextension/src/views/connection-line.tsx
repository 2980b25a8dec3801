/** Shown only while there is no connection: what is going on, and after some seconds what one can do. */
import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { t } from '../i18n';
import type { Store } from '../store/types';
import { Button } from './kit/button';

/** Opening a panel takes a moment; only a longer one is worth words, and a still longer one a button. */
const QUIET_MS = 700;
const HELP_MS = 4000;

export function ConnectionLine({ store }: { store: Store }): VNode {
  const state = store.connection.value;
  const problem = store.connectionProblem.value;
  const [step, setStep] = useState<'quiet' | 'said' | 'help'>('quiet');
  useEffect(() => {
    setStep('quiet');
    if (state === 'open') {
      return undefined;
    }
    const said = setTimeout(() => setStep('said'), state === 'lost' ? 0 : QUIET_MS);
    const help = setTimeout(() => setStep('help'), HELP_MS);
    return () => {
      clearTimeout(said);
      clearTimeout(help);
    };
  }, [state]);

  const broken = state !== 'open' && (step !== 'quiet' || problem !== undefined);
  const words = problem ?? (state === 'lost' ? t('Reconnecting…') : t('Connecting…'));
  return (
    <div class={broken ? 'cc-connection' : 'cc-connection cc-connected'}>
      <span role="status" aria-label={t('Connection')}>
        {broken ? words : ''}
      </span>
      {broken && (step === 'help' || problem) && (
        <Button onClick={() => store.reconnect()}>{t('Connect now')}</Button>
      )}
    </div>
  );
}
