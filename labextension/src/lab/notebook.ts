/** The notebook that the person works in, as the panel may use it. Changes go through its model: they can be undone. */
import type { Cell } from '@jupyterlab/cells';
import type * as nbformat from '@jupyterlab/nbformat';
import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import type { ContextChoice, NotebookHost } from '../host';
import { t } from '../i18n';
import { cellText, outline } from './cell-text';
import { bounded, oneLine } from './excerpt';
import { valueText, variables, type Variable } from './variables';

export class LabNotebook implements NotebookHost {
  constructor(private readonly tracker: INotebookTracker) {}

  available(): boolean {
    return this.panel() !== undefined;
  }

  insertBelow(source: string): Promise<void> {
    const panel = this.panel();
    const model = panel?.content.model;
    if (panel && model) {
      const { activeCellIndex } = panel.content;
      const at = activeCellIndex < 0 ? model.cells.length : activeCellIndex + 1;
      model.sharedModel.insertCell(at, { cell_type: 'code', source, metadata: {} });
      panel.content.activeCellIndex = at;
      panel.content.deselectAll();
      void panel.content.scrollToItem(at);
    }
    return Promise.resolve();
  }

  replaceCell(source: string): Promise<void> {
    // One step of the cell's history, as if the person had typed it.
    this.panel()?.content.activeCell?.model.sharedModel.setSource(source);
    return Promise.resolve();
  }

  async context(): Promise<ContextChoice[]> {
    const panel = this.panel();
    const content = panel?.content;
    if (!panel || !content?.model) {
      return [];
    }
    const choices: ContextChoice[] = [];
    const selection = selected(content.activeCell);
    if (selection) {
      choices.push({
        kind: 'selection',
        label: t('selection in cell {number}', { number: content.activeCellIndex + 1 }),
        detail: oneLine(selection, 60),
        load: () => Promise.resolve(bounded(selection))
      });
    }
    const active = this.activeCell();
    if (active) {
      choices.push(active);
    }
    const several = content.widgets.flatMap((cell, index) => (content.isSelected(cell) ? [index] : []));
    if (several.length > 1) {
      choices.push({
        kind: 'cells',
        label: t('cells {numbers}', { numbers: ranges(several) }),
        load: () => Promise.resolve(bounded(several.map(index => numbered(panel, index)).join('\n\n')))
      });
    }
    const headings = outline(content.model.sharedModel.cells.map(cell => cell.toJSON() as nbformat.ICell));
    if (headings) {
      choices.push({
        kind: 'outline',
        label: oneLine(t('outline of {name}', { name: panel.title.label })),
        load: () => Promise.resolve(bounded(headings))
      });
    }
    const kernel = panel.sessionContext.session?.kernel;
    return [...choices, ...(await variables(kernel)).map(found => this.variable(panel, found))];
  }

  /** The cell with the cursor, undefined when there is none. */
  activeCell(): ContextChoice | undefined {
    const panel = this.panel();
    const index = panel?.content.activeCellIndex ?? -1;
    const cell = panel?.content.activeCell;
    if (!panel || !cell || index < 0) {
      return undefined;
    }
    return {
      kind: 'cell',
      label: t('cell {number}', { number: index + 1 }),
      detail: oneLine(cell.model.sharedModel.getSource(), 60),
      // The cell, not its place: it may have moved until the choice is taken.
      load: () => Promise.resolve(bounded(cellText(cell.model.toJSON())))
    };
  }

  private variable(panel: NotebookPanel, { name, type, size }: Variable): ContextChoice {
    const detail = [type, size].filter(Boolean).join(' ');
    return {
      kind: 'variable',
      label: oneLine(name),
      detail,
      load: async () => {
        const text = await valueText(panel.sessionContext.session?.kernel, name);
        // The model reads this: plain English, as every text for it.
        return text === undefined
          ? `${name}: ${detail} (the kernel is busy; its value was not read)`
          : bounded(`${name}: ${detail}\n${text}`);
      }
    };
  }

  private panel(): NotebookPanel | undefined {
    const panel = this.tracker.currentWidget;
    return panel && !panel.isDisposed && panel.content.model ? panel : undefined;
  }
}

function selected(cell: Cell | null): string {
  const editor = cell?.editor;
  if (!cell || !editor) {
    return '';
  }
  const { start, end } = editor.getSelection();
  const [from, to] = [editor.getOffsetAt(start), editor.getOffsetAt(end)].sort((a, b) => a - b);
  return cell.model.sharedModel.getSource().slice(from, to).trim();
}

function numbered(panel: NotebookPanel, index: number): string {
  const cell = panel.content.model?.cells.get(index);
  return `# Cell ${index + 1}\n${cell ? cellText(cell.toJSON()) : ''}`;
}

/** [2, 3, 4, 7] (from zero) as "3–5, 8". */
export function ranges(indices: readonly number[]): string {
  const runs: [number, number][] = [];
  for (const index of indices) {
    const last = runs.at(-1);
    if (last && index === last[1] + 1) {
      last[1] = index;
    } else {
      runs.push([index, index]);
    }
  }
  return runs.map(([from, to]) => (from === to ? `${from + 1}` : `${from + 1}–${to + 1}`)).join(', ');
}
