/** One request of a form: whether it goes on, and the sentence about how it ended. */
import { useRef, useState } from 'preact/hooks';
import { sentenceOf } from '../kit/sentence';

export interface Task {
  busy: boolean;
  said: string;
  failed: boolean;
  /** Runs it and says the sentence it gives; true when it went well. `own` may keep an error for itself. */
  run(doing: () => Promise<string>, own?: (error: unknown) => boolean): Promise<boolean>;
  clear(): void;
}

export function useTask(): Task {
  const [state, setState] = useState({ busy: false, said: '', failed: false });
  const last = useRef(0);
  return {
    ...state,
    async run(doing, own) {
      const mine = ++last.current;
      const tell = (said: string, failed: boolean): void => {
        if (mine === last.current) {
          setState({ busy: false, said, failed });
        }
      };
      setState({ busy: true, said: '', failed: false });
      try {
        tell(await doing(), false);
        return true;
      } catch (error) {
        tell(own?.(error) ? '' : sentenceOf(error), true);
        return false;
      }
    },
    clear() {
      last.current++;
      setState({ busy: false, said: '', failed: false });
    }
  };
}
