/** CashCode's own mark, and which of JupyterLab's icons stand for the names that the panel knows. */
import {
  addBelowIcon,
  addIcon,
  caretDownIcon,
  caretRightIcon,
  checkIcon,
  closeIcon,
  copyIcon,
  deleteIcon,
  editIcon,
  ellipsesIcon,
  historyIcon,
  LabIcon,
  launchIcon,
  refreshIcon,
  searchIcon,
  settingsIcon,
  undoIcon
} from '@jupyterlab/ui-components';
import type { IconName } from '../host';

/** A speech bubble that holds a prompt; `jp-icon3` gives it the theme's colour. */
const MARK = `<svg xmlns="http://www.w3.org/2000/svg" width="16" viewBox="0 0 24 24">
  <g fill="#616161" class="jp-icon3 jp-icon-selectable">
    <path fill-rule="evenodd" d="M5 3h14a3 3 0 0 1 3 3v9a3 3 0 0 1-3 3h-6.6L7 21.8V18H5a3 3 0 0 1-3-3V6a3 3 0 0 1 3-3zm0 2a1 1 0 0 0-1 1v9a1 1 0 0 0 1 1h4v2.1l2.8-2.1H19a1 1 0 0 0 1-1V6a1 1 0 0 0-1-1z"/>
    <path d="M7.4 7.9 8.8 6.5l4 4-4 4-1.4-1.4 2.6-2.6zM13 12.6h4v1.9h-4z"/>
  </g>
</svg>`;

export const cashcodeIcon = new LabIcon({ name: 'cashcode-jupyter:cashcode', svgstr: MARK });

/** Only icons of one colour; for the others the panel draws its own. */
const ICONS: Readonly<Partial<Record<IconName, LabIcon>>> = {
  add: addIcon,
  'caret-down': caretDownIcon,
  'caret-right': caretRightIcon,
  check: checkIcon,
  close: closeIcon,
  copy: copyIcon,
  delete: deleteIcon,
  edit: editIcon,
  history: historyIcon,
  'insert-below': addBelowIcon,
  menu: ellipsesIcon,
  'open-tab': launchIcon,
  refresh: refreshIcon,
  search: searchIcon,
  settings: settingsIcon,
  undo: undoIcon
};

export const iconSource = (name: IconName): string | undefined => ICONS[name]?.svgstr;
