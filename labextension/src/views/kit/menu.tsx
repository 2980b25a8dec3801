/** A button that opens a menu. Its items may take a moment to come; arrows, Home, End, Enter and Escape work. */
import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { IconName } from '../../host';
import { t } from '../../i18n';
import { Icon } from '../icon';
import { IconButton } from './button';

export interface MenuItem {
  key: string;
  label: string;
  /** A dim second part. */
  detail?: string;
  icon?: IconName;
  onTake(): void;
}

export interface MenuButtonProps {
  name: string;
  icon: IconName;
  /** Asked at each opening; a rejection is shown as its absence. */
  items(): MenuItem[] | Promise<MenuItem[]>;
  disabled?: boolean;
}

export function MenuButton({ name, icon, items, disabled }: MenuButtonProps): VNode {
  const [open, setOpen] = useState(false);
  const [rows, setRows] = useState<MenuItem[] | undefined>();
  const button = useRef<HTMLButtonElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const asked = useRef(0);

  const close = (refocus: boolean): void => {
    setOpen(false);
    asked.current++;
    if (refocus) {
      button.current?.focus();
    }
  };
  const show = (): void => {
    const mine = ++asked.current;
    setRows(undefined);
    setOpen(true);
    void Promise.resolve()
      .then(items)
      .catch(() => [])
      .then(found => mine === asked.current && setRows(found));
  };
  useEffect(() => {
    if (open) {
      const first = list.current?.querySelector<HTMLElement>('[role=menuitem]');
      (first ?? list.current)?.focus();
    }
  }, [open, rows]);

  const move = (event: KeyboardEvent): void => {
    const all = [...(list.current?.querySelectorAll<HTMLElement>('[role=menuitem]') ?? [])];
    const at = all.findIndex(item => item === event.target);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 }[event.key];
    if (event.key === 'Escape' || event.key === 'Tab') {
      event.stopPropagation();
      close(event.key === 'Escape');
    } else if (to !== undefined && all.length) {
      event.preventDefault();
      all[(to + all.length) % all.length].focus();
    }
  };
  return (
    <div
      class="cc-menu-place"
      onFocusOut={event => {
        const to = event.relatedTarget;
        if (open && !(to instanceof Node && event.currentTarget.contains(to))) {
          close(false);
        }
      }}
    >
      <IconButton
        name={name}
        icon={icon}
        disabled={disabled}
        hasPopup="menu"
        expanded={open}
        buttonRef={button}
        onClick={() => (open ? close(true) : show())}
      />
      {open && (
        <div class="cc-popup cc-menu" role="menu" aria-label={name} tabIndex={-1} ref={list} onKeyDown={move}>
          {rows === undefined && <div class="cc-menu-note">{t('Looking…')}</div>}
          {rows?.map(row => (
            <button
              type="button"
              role="menuitem"
              tabIndex={-1}
              class="cc-row"
              key={row.key}
              onClick={() => {
                close(true);
                row.onTake();
              }}
            >
              {row.icon && <Icon name={row.icon} />}
              <span class="cc-row-label">{row.label}</span>
              {row.detail && <span class="cc-row-detail">{row.detail}</span>}
            </button>
          ))}
        </div>
      )}
    </div>
  );
}
