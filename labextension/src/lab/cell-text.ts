/** A cell as a model reads it: its source and what stands below it as text. */
import type * as nbformat from '@jupyterlab/nbformat';

/** Colours and cursor movements of terminals. */
const ANSI = /\u001b\[[0-?]*[ -/]*[@-~]/g;

export function cellText(cell: nbformat.ICell): string {
  const source = joined(cell.source);
  if (cell.cell_type !== 'code') {
    return source;
  }
  const outputs = (cell.outputs as nbformat.IOutput[]).map(outputText).filter(Boolean).join('\n');
  return outputs ? `${source}\n\n# Output:\n${outputs}` : source;
}

function outputText(output: nbformat.IOutput): string {
  switch (output.output_type) {
    case 'stream':
      return joined(output.text).replace(ANSI, '').trimEnd();
    case 'error': {
      const { ename, evalue, traceback } = output as nbformat.IError;
      return (traceback.length ? traceback.join('\n') : `${ename}: ${evalue}`).replace(ANSI, '');
    }
    default: {
      const data = (output.data ?? {}) as nbformat.IMimeBundle;
      const text = data['text/plain'] ?? data['text/markdown'];
      return text === undefined ? '' : joined(text).replace(ANSI, '');
    }
  }
}

/** The notebook format allows a text to be a list of lines. */
const joined = (text: unknown): string =>
  Array.isArray(text) ? text.join('') : typeof text === 'string' ? text : '';

/** The headings of Markdown cells, indented by their level, with the number of the cell they stand in. */
export function outline(cells: readonly nbformat.ICell[]): string {
  const lines: string[] = [];
  cells.forEach((cell, index) => {
    if (cell.cell_type !== 'markdown') {
      return;
    }
    let fenced = false;
    for (const line of joined(cell.source).split('\n')) {
      fenced = /^\s{0,3}(```|~~~)/.test(line) ? !fenced : fenced;
      const heading = fenced ? null : /^\s{0,3}(#{1,6})\s+(.*?)\s*#*\s*$/.exec(line);
      if (heading) {
        lines.push(`${'  '.repeat(heading[1].length - 1)}- ${heading[2]} (cell ${index + 1})`);
      }
    }
  });
  return lines.join('\n');
}
