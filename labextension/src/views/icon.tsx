/** Icons: those of the host where it has them, so that the panel looks like its surroundings, else our own. */
import type { VNode } from 'preact';
import { useContext } from 'preact/hooks';
import type { Host, IconName } from '../host';
import { HostContext } from './host-context';

/** Drawn on 16 × 16; lines of 1.3, round ends; the text's colour. */
const PATHS: Readonly<Record<IconName, string>> = {
  add: 'M8 3v10M3 8h10',
  'arrow-down': 'M8 3v10M4 9l4 4 4-4',
  attach: 'M8 2.5v11M2.5 8h11',
  back: 'M13 8H3M7 4 3 8l4 4',
  'caret-down': 'M4.5 6.5 8 10l3.5-3.5',
  'caret-right': 'M6.5 4.5 10 8l-3.5 3.5',
  check: 'm3 8.5 3.2 3.2L13 5',
  close: 'm4 4 8 8M12 4l-8 8',
  copy: 'M5.5 5.5h7.5v8H5.5zM10.5 5.5v-3H3v8h2.5',
  delete: 'M3 4.5h10M6 4.5v-2h4v2M4.5 4.5l.6 9h5.8l.6-9M7 7v4M9 7v4',
  edit: 'm3 13 .6-2.8 7.2-7.2 2.2 2.2-7.2 7.2zM9.4 4.4l2.2 2.2',
  error: 'M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2zM8 4.8v4M8 10.8v.4',
  history: 'M2.5 8A5.5 5.5 0 1 0 4.3 4M2.5 2.5v3h3M8 5v3.2l2.2 1.4',
  image: 'M2.5 3h11v10h-11zM3 11.5 6.4 8l2.4 2.4L10.6 9l2.6 2.4M10.4 5.6v.4',
  'insert-below': 'M3 3h10v4H3zM8 9.5v4M6 11.5h4',
  menu: 'M3 8h.1M8 8h.1M13 8h.1',
  'open-tab': 'M7 3.5H3v9.5h9.5V9M9.5 2.5h4v4M13 3 7.5 8.5',
  refresh: 'M13.2 8A5.2 5.2 0 1 1 11.6 4.2M13.2 2.4v3h-3',
  replace: 'M3 5.5h9M9.5 3 12 5.5 9.5 8M13 10.5H4M6.5 8 4 10.5 6.5 13',
  search: 'M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9zM10.4 10.4l3.2 3.2',
  send: 'm2.5 3 11 5-11 5 1.8-5zM4.3 8h4.2',
  settings:
    'M6.9 2h2.2l.4 1.7 1 .6 1.7-.5 1.1 1.9-1.3 1.2v1.2l1.3 1.2-1.1 1.9-1.7-.5-1 .6L9.1 14H6.9l-.4-1.7-1-.6-1.7.5-1.1-1.9' +
    'L4 9.1V7.9L2.7 6.7l1.1-1.9 1.7.5 1-.6zM8 6.2a1.8 1.8 0 1 0 0 3.6 1.8 1.8 0 0 0 0-3.6z',
  stop: 'M4 4h8v8H4z',
  tool: 'M9.9 2.7a3.6 3.6 0 0 0-3.4 4.9L2.6 11.5l1.9 1.9 3.9-3.9a3.6 3.6 0 0 0 4.9-4.2L11.2 7.4 9 6.9l-.4-2.1z',
  undo: 'M5.5 3 2.5 6l3 3M2.5 6H9.5a3.5 3.5 0 0 1 0 7H5.5',
  warning: 'M8 2.5 14 13H2zM8 6.5v3M8 11.2v.1',
  cell: 'M3 2.5h10v11H3zM5.5 5.5h5M5.5 8h5M5.5 10.5h3',
  variable: 'M2.5 3h11v10h-11zM2.5 6.3h11M2.5 9.7h11M6.5 3v10',
  skill: 'M8 2l1.5 4.5L14 8l-4.5 1.5L8 14l-1.5-4.5L2 8l4.5-1.5z',
  mcp: 'M6 2.5V5M10 2.5V5M4 5h8v2.5a4 4 0 0 1-8 0zM8 11.5v2.5'
};
const SOLID: ReadonlySet<IconName> = new Set(['stop']);
const HEAVY: ReadonlySet<IconName> = new Set(['menu']);

export interface IconProps {
  name: IconName;
  host?: Host;
}

/** Decoration only: whoever shows an icon also says its meaning in words. */
export function Icon({ name, host }: IconProps): VNode {
  const around = useContext(HostContext);
  const given = (host ?? around).icon?.(name);
  if (given?.trimStart().startsWith('<svg')) {
    // The host is trusted (it is JupyterLab's icon registry); nothing of a model or tool comes here.
    return <span class="cc-icon" aria-hidden="true" dangerouslySetInnerHTML={{ __html: given }} />;
  }
  return (
    <span class="cc-icon" aria-hidden="true">
      <svg viewBox="0 0 16 16" width="16" height="16" focusable="false">
        <path
          d={PATHS[name]}
          fill={SOLID.has(name) ? 'currentColor' : 'none'}
          stroke="currentColor"
          stroke-width={HEAVY.has(name) ? 2.2 : 1.3}
          stroke-linecap="round"
          stroke-linejoin="round"
        />
      </svg>
    </span>
  );
}
