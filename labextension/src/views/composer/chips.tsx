/** What is attached, as chips. Delete and Backspace remove the focused one, and the focus goes to a neighbour. */
import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { IconName } from '../../host';
import { t } from '../../i18n';
import { Icon } from '../icon';
import type { Attached } from './attached';

interface Chip {
  key: string;
  label: string;
  icon: IconName;
  picture?: string;
  remove(): void;
}

const CONTEXT_ICONS: Readonly<Record<string, IconName>> = { variable: 'variable', file: 'open-tab' };

export function Chips({ attached, onLast }: { attached: Attached; onLast(): void }): VNode | null {
  const chips = chipsOf(attached);
  const list = useRef<HTMLDivElement>(null);
  const wanted = useRef<number | undefined>(undefined);
  useEffect(() => {
    if (wanted.current !== undefined) {
      const buttons = list.current?.querySelectorAll('button');
      buttons?.[Math.min(wanted.current, buttons.length - 1)]?.focus();
      wanted.current = undefined;
    }
  });
  if (chips.length === 0) {
    return null;
  }
  const remove = (index: number): void => {
    wanted.current = index;
    chips[index].remove();
    if (chips.length === 1) {
      wanted.current = undefined;
      onLast();
    }
  };
  return (
    <div class="cc-chips" role="list" aria-label={t('Attached')} ref={list}>
      {chips.map((chip, index) => (
        <span class="cc-chip" role="listitem" key={chip.key} title={chip.label}>
          {chip.picture ? <img class="cc-thumb" src={chip.picture} alt="" /> : <Icon name={chip.icon} />}
          <span class="cc-chip-label">{chip.label}</span>
          <button
            type="button"
            class="cc-chip-remove"
            aria-label={t('Remove {label}', { label: chip.label })}
            title={t('Remove {label}', { label: chip.label })}
            onClick={() => remove(index)}
            onKeyDown={event => {
              if (event.key === 'Delete' || event.key === 'Backspace') {
                event.preventDefault();
                remove(index);
              }
            }}
          >
            <Icon name="close" />
          </button>
        </span>
      ))}
    </div>
  );
}

function chipsOf(attached: Attached): Chip[] {
  const { skills, connectors, context, images } = attached;
  return [
    ...context.value.map(row => ({
      key: `context ${row.kind} ${row.label}`,
      label: row.label,
      icon: CONTEXT_ICONS[row.kind] ?? ('cell' as const),
      remove: () => (context.value = context.value.filter(other => other !== row))
    })),
    ...skills.value.map(row => ({
      key: `skill ${row.name}`,
      label: row.label ?? row.name,
      icon: 'skill' as const,
      remove: () => (skills.value = skills.value.filter(other => other !== row))
    })),
    ...connectors.value.map(row => ({
      key: `server ${row.server}`,
      label: row.label ?? row.server,
      icon: 'mcp' as const,
      remove: () => (connectors.value = connectors.value.filter(other => other !== row))
    })),
    ...images.value.map((row, index) => ({
      key: `image ${index} ${row.label}`,
      label: row.label,
      icon: 'image' as const,
      picture: row.dataUrl,
      remove: () => (images.value = images.value.filter(other => other !== row))
    }))
  ];
}
