/** The list above the box. The focus stays in the box, which names the active row by `aria-activedescendant`. */
import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { IconName } from '../../host';
import { Icon } from '../icon';

export interface Suggestion {
  key: string;
  label: string;
  detail?: string;
  icon?: IconName;
  /** Opens a further level. */
  opens?: boolean;
  take(): void;
}

export interface SuggestionsProps {
  id: string;
  name: string;
  rows: Suggestion[];
  active: number;
  /** Said when there are no rows. */
  empty: string;
  onActive(index: number): void;
}

export const optionId = (id: string, index: number): string => `${id}-${index}`;

export function Suggestions({ id, name, rows, active, empty, onActive }: SuggestionsProps): VNode {
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    list.current?.querySelector('[aria-selected=true]')?.scrollIntoView?.({ block: 'nearest' });
  }, [active, rows]);
  return (
    <div class="cc-popup cc-suggestions">
      <div class="cc-popup-title">{name}</div>
      <div role="listbox" id={id} aria-label={name} ref={list}>
        {rows.map((row, index) => (
          <div
            role="option"
            id={optionId(id, index)}
            key={row.key}
            class="cc-row"
            aria-selected={index === active}
            onPointerMove={() => index !== active && onActive(index)}
            // Before the box would lose its focus.
            onMouseDown={event => event.preventDefault()}
            onClick={() => row.take()}
          >
            {row.icon && <Icon name={row.icon} />}
            <span class="cc-row-label">{row.label}</span>
            {row.detail && <span class="cc-row-detail">{row.detail}</span>}
            {row.opens && <Icon name="caret-right" />}
          </div>
        ))}
      </div>
      {rows.length === 0 && (
        <div class="cc-menu-note" role="status">
          {empty}
        </div>
      )}
    </div>
  );
}
