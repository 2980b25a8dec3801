/** The skills and servers for the `@` picker, asked for when it opens. */
import { useEffect, useState } from 'preact/hooks';
import type { ConnectorRow, Selections, SkillRow } from '../../store/types';
import { sentenceOf } from '../kit/sentence';

export interface Offered {
  skills: SkillRow[] | undefined;
  connectors: ConnectorRow[] | undefined;
  problem: string;
}
const NOTHING: Offered = { skills: undefined, connectors: undefined, problem: '' };

export function useSelections(selections: Selections, wanted: boolean): Offered {
  const [offered, setOffered] = useState(NOTHING);
  useEffect(() => {
    if (!wanted) {
      return undefined;
    }
    let current = true;
    const fail = (error: unknown): void => {
      if (current) {
        setOffered(before => ({ ...before, problem: sentenceOf(error) }));
      }
    };
    setOffered(before => ({ ...before, problem: '' }));
    selections.skills().then(skills => current && setOffered(before => ({ ...before, skills })), fail);
    selections.connectors().then(connectors => current && setOffered(before => ({ ...before, connectors })), fail);
    return () => {
      current = false;
    };
  }, [selections, wanted]);
  return offered;
}
