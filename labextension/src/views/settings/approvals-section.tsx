/** Which tools may run without asking: one rule per risk, and exceptions by tool. */
import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { t } from '../../i18n';
import type { ApprovalsView, Policy, Risk, Store } from '../../store/types';
import { Button, IconButton } from '../kit/button';
import { Choice } from '../kit/choice';
import { useUnique } from '../kit/id';
import { sentenceOf } from '../kit/sentence';
import { Failed, Skeleton } from '../kit/states';
import { Section, TaskLine } from './section';
import { useTask } from './use-task';

const RISKS: readonly Risk[] = ['read', 'write', 'execute', 'network', 'memory'];
const POLICIES: readonly Policy[] = ['allow', 'ask', 'deny'];
const DEFAULTS: ApprovalsView = {
  risks: { read: 'allow', write: 'ask', execute: 'ask', network: 'allow', memory: 'allow' },
  tools: {}
};

const riskWords = (risk: Risk): string =>
  ({
    read: t('Read files, notebooks and variables'),
    write: t('Change files and notebooks'),
    execute: t('Run commands and cells'),
    network: t('Fetch pages and call servers'),
    memory: t('Remember things about you')
  })[risk];

const policyWords = (policy: Policy): string =>
  ({ allow: t('Allow'), ask: t('Ask first'), deny: t('Deny always') })[policy];

export function ApprovalsSection({ store }: { store: Store }): VNode {
  const [saved, setSaved] = useState<ApprovalsView | undefined>();
  const [draft, setDraft] = useState<ApprovalsView | undefined>();
  const [problem, setProblem] = useState('');
  const task = useTask();
  const load = (): void => {
    setProblem('');
    store.settings.approvals().then(setSaved, error => setProblem(sentenceOf(error)));
  };
  useEffect(load, []);

  const shown = draft ?? saved;
  const dirty = draft !== undefined && JSON.stringify(draft) !== JSON.stringify(saved);
  const change = (next: ApprovalsView): void => {
    setDraft(next);
    task.clear();
  };
  const save = (): void => {
    if (draft) {
      void task.run(async () => {
        setSaved(await store.settings.saveApprovals(draft));
        setDraft(undefined);
        return t('Saved');
      });
    }
  };
  return (
    <Section title={t('Approvals')} about={t('What the agent may do by itself. A denial is never overruled.')}>
      {problem && !shown && (
        <>
          <Failed sentence={problem} onRetry={load} />
          <Button onClick={() => change(DEFAULTS)}>{t('Start from the defaults')}</Button>
        </>
      )}
      {!shown && !problem && <Skeleton rows={5} name={t('Loading…')} />}
      {shown && (
        <>
          {RISKS.map(risk => (
            <Rule
              key={risk}
              words={riskWords(risk)}
              value={shown.risks[risk]}
              onChange={policy => change({ ...shown, risks: { ...shown.risks, [risk]: policy } })}
            />
          ))}
          {Object.keys(shown.tools).length > 0 && (
            <>
              <h4>{t('Exceptions by tool')}</h4>
              {Object.entries(shown.tools).map(([tool, policy]) => (
                <Rule
                  key={tool}
                  words={tool}
                  isTool
                  value={policy}
                  onChange={next => change({ ...shown, tools: { ...shown.tools, [tool]: next } })}
                  onRemove={() => change({ ...shown, tools: without(shown.tools, tool) })}
                />
              ))}
            </>
          )}
          <div class="cc-buttons">
            <Button look={dirty ? 'primary' : 'plain'} onClick={save} disabled={task.busy || !dirty}>
              {t('Save')}
            </Button>
            {dirty && (
              <Button onClick={() => setDraft(undefined)} disabled={task.busy}>
                {t('Undo')}
              </Button>
            )}
            <TaskLine task={task} waiting={t('Saving…')} />
          </div>
        </>
      )}
    </Section>
  );
}

interface RuleProps {
  words: string;
  value: Policy;
  isTool?: boolean;
  onChange(policy: Policy): void;
  onRemove?(): void;
}

function Rule({ words, value, isTool = false, onChange, onRemove }: RuleProps): VNode {
  const id = useUnique();
  return (
    <div class="cc-rule">
      <span id={id} class={isTool ? 'cc-rule-words cc-code' : 'cc-rule-words'} title={words}>
        {words}
      </span>
      <Choice labelId={id} value={value} onChange={next => onChange(POLICIES.find(one => one === next) ?? 'ask')}>
        {POLICIES.map(policy => (
          <option key={policy} value={policy}>
            {policyWords(policy)}
          </option>
        ))}
      </Choice>
      {onRemove && (
        <IconButton name={t('Remove the rule for {tool}', { tool: words })} icon="close" onClick={onRemove} />
      )}
    </div>
  );
}

function without(tools: ApprovalsView['tools'], tool: string): ApprovalsView['tools'] {
  return Object.fromEntries(Object.entries(tools).filter(([name]) => name !== tool));
}
