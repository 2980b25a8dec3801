/** The list above the box: whether it is open, at which level, which row is active, and what keys do to it. */
import { useState } from 'preact/hooks';
import { t } from '../../i18n';
import type { Selections } from '../../store/types';
import { commandRows, pickerEmpty, pickerRows, pickerTitle, type Command, type Level } from './picker';
import type { Suggestion } from './suggestions';
import { tokenAt, type Token } from './token';
import { useSelections } from './use-selections';
import type { Attached } from './attached';

export interface PickerUse {
  text: string;
  caret: number;
  selections: Selections;
  attached: Attached;
  commands: Command[];
  /** Put `insert` where the token stands. */
  replace(token: Token, insert: string): void;
  say(sentence: string): void;
}

export interface Picker {
  open: boolean;
  title: string;
  empty: string;
  rows: Suggestion[];
  active: number;
  setActive(index: number): void;
  /** True when the key was for the list. */
  key(event: KeyboardEvent): boolean;
  close(): void;
}

export function usePicker(use: PickerUse): Picker {
  const { text, caret, attached, replace } = use;
  const token = tokenAt(text, caret);
  const [level, setLevel] = useState<Level>('top');
  const [active, setActive] = useState(0);
  /** Where a picker was closed by Escape; it stays closed until the sign is typed anew. */
  const [closedAt, setClosedAt] = useState<string | undefined>();
  const [shownFor, setShownFor] = useState('');

  const place = token ? `${token.kind}${token.start}` : '';
  const mark = token ? `${place} ${token.query} ${level}` : '';
  if (!token && (level !== 'top' || closedAt !== undefined)) {
    setLevel('top');
    setClosedAt(undefined);
  }
  if (mark !== shownFor) {
    setShownFor(mark);
    setActive(0);
  }
  const open = token !== undefined && closedAt !== place;
  const offered = useSelections(use.selections, open && token.kind === '@');

  const take = (refusal: string | undefined): void => {
    if (token) {
      replace(token, '');
    }
    setLevel('top');
    use.say(refusal ?? '');
  };
  const rows = !open
    ? []
    : token.kind === '/'
      ? commandRows(token.query, use.commands)
      : pickerRows(level, token.query, offered, {
          open(next) {
            replace(token, '@');
            setLevel(next);
          },
          takeSkill: row => take(attached.addSkill(row)),
          takeServer: row => take(attached.addConnector(row))
        });
  const commands = open && token.kind === '/';
  return {
    // A path like "/home" is no command: nothing is offered, so nothing is shown.
    open: open && !(commands && rows.length === 0),
    title: commands ? t('Commands') : pickerTitle(level),
    empty: open ? pickerEmpty(level, token.query, offered) : '',
    rows,
    active: Math.min(active, Math.max(rows.length - 1, 0)),
    setActive,
    close: () => setClosedAt(place),
    key(event) {
      if (!open || (commands && rows.length === 0)) {
        return false;
      }
      const at = Math.min(active, rows.length - 1);
      switch (event.key) {
        case 'ArrowDown':
        case 'ArrowUp':
          if (rows.length) {
            setActive((at + (event.key === 'ArrowDown' ? 1 : rows.length - 1)) % rows.length);
          }
          return true;
        case 'Enter':
        case 'Tab':
          if (event.shiftKey || !rows[at]) {
            return false;
          }
          rows[at].take();
          return true;
        case 'Escape':
          setClosedAt(place);
          return true;
        case 'Backspace':
          if (level !== 'top' && token.query === '') {
            setLevel('top');
            return true;
          }
          return false;
        default:
          return false;
      }
    }
  };
}
