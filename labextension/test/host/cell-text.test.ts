import type { ICell } from '@jupyterlab/nbformat';
import { describe, expect, it } from 'vitest';
import { cellText, outline } from '../../src/lab/cell-text';

const code = (source: string | string[], ...outputs: unknown[]): ICell =>
  ({ cell_type: 'code', source, outputs, metadata: {}, execution_count: null }) as unknown as ICell;
const markdown = (source: string): ICell => ({ cell_type: 'markdown', source, metadata: {} });

describe('a cell as text', () => {
  it('is its source, also when the file has it as lines', () => {
    expect(cellText(code(['a = 1\n', 'a']))).toBe('a = 1\na');
  });

  it('has its outputs below, of a bundle the plain text, never a picture', () => {
    const text = cellText(
      code(
        'plot()',
        { output_type: 'stream', name: 'stdout', text: ['one\n', 'two\n'] },
        { output_type: 'execute_result', data: { 'image/png': 'AAAA', 'text/plain': '<Figure>' }, metadata: {} },
        { output_type: 'display_data', data: { 'image/png': 'BBBB' }, metadata: {} }
      )
    );
    expect(text).toBe('plot()\n\n# Output:\none\ntwo\n<Figure>');
  });

  it('shows an error without the colours of a terminal', () => {
    const failed = {
      output_type: 'error',
      ename: 'KeyError',
      evalue: "'x'",
      traceback: ["\u001b[0;31mKeyError\u001b[0m: 'x'"]
    };
    expect(cellText(code('d["x"]', failed))).toContain("\nKeyError: 'x'");
    expect(cellText(code('d["x"]', { ...failed, traceback: [] }))).toContain("\nKeyError: 'x'");
  });

  it('of Markdown is its source alone', () => {
    expect(cellText(markdown('# Title'))).toBe('# Title');
  });
});

describe('the outline', () => {
  it('lists the headings of Markdown cells by level and cell, and no comment of code', () => {
    const cells = [
      markdown('# Sales\nwords\n## May #'),
      code('# not a heading'),
      markdown('```\n# neither\n```\n### Why')
    ];
    expect(outline(cells)).toBe('- Sales (cell 1)\n  - May (cell 1)\n    - Why (cell 3)');
  });

  it('of a notebook without headings is empty', () => {
    expect(outline([code('1')])).toBe('');
  });
});
