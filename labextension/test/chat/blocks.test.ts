import { describe, expect, it } from 'vitest';
import { BEGINNING, cut } from '../../src/markdown/blocks';
import type { Block } from '../../src/markdown/blocks';
import { isTooHard } from '../../src/markdown/bounds';
import { GrowingText } from '../../src/markdown/growing';
import { render } from '../../src/markdown/render';

const kinds = (source: string): string[] => all(source).map(block => block.kind);
const sources = (source: string): string[] => all(source).map(block => block.source);
function all(source: string): Block[] {
  const { settled, open } = cut(source);
  return [...settled, ...open];
}

describe('cutting Markdown into blocks', () => {
  it('ends a paragraph at a blank line', () => {
    expect(sources('one\ntwo\n\nthree')).toEqual(['one\ntwo', 'three']);
  });

  it('keeps blank lines inside a fence and takes its language', () => {
    const [block] = all('```python title\na = 1\n\nb = 2\n```\n');
    expect(block).toMatchObject({ kind: 'code', language: 'python', text: 'a = 1\n\nb = 2' });
  });

  it('lets a longer fence hold a shorter one', () => {
    expect(all('````md\n```\nx\n```\n````\nafter')[0]).toMatchObject({ kind: 'code', text: '```\nx\n```' });
  });

  it('lets a fence interrupt a paragraph', () => {
    expect(kinds('words:\n```\nx\n```\nmore')).toEqual(['markdown', 'code', 'markdown']);
  });

  it('keeps a loose list with its nested code together', () => {
    const list = '1. one\n\n   ```sh\n   ls\n\n   pwd\n   ```\n\n2. two';
    expect(sources(list)).toEqual([list]);
  });

  it('begins another list where the marker changes after a blank line', () => {
    expect(sources('- a\n\n1. b')).toEqual(['- a', '1. b']);
  });

  it('takes display mathematics as one block and gives up when it does not close', () => {
    expect(all('$$\na *b* c\n$$\nafter')[0]).toMatchObject({ kind: 'math', text: 'a *b* c' });
    expect(all('\\[x_1 _2\\]')[0]).toMatchObject({ kind: 'math', text: 'x_1 _2' });
    expect(kinds('$$ is money\n\nnext')).toEqual(['markdown', 'markdown']);
  });

  it('shows an unfinished fence as code that is open', () => {
    const { settled, open } = cut('text\n\n```py\nprint(');
    expect(settled).toHaveLength(1);
    expect(open).toMatchObject([{ kind: 'code', language: 'py', text: 'print(' }]);
  });

  it('goes on with a long table under the same header', () => {
    const rows = Array.from({ length: 2000 }, (_, index) => `| ${index} | value |`).join('\n');
    const blocks = all(`| n | v |\n|---|---|\n${rows}`);
    expect(blocks.length).toBeGreaterThan(2);
    for (const { source } of blocks) expect(source).toMatch(/^\| n \| v \|\n\|---\|---\|\n\| \d/);
    const tables = blocks.map(block => render(block.source)?.querySelectorAll('tbody tr').length ?? 0);
    expect(tables.reduce((sum, count) => sum + count, 0)).toBe(2000);
  });

  it('cuts long lists and paragraphs so that no block is long', () => {
    const list = Array.from({ length: 5000 }, (_, index) => `${index + 1}. item`).join('\n');
    const lines = 'some words that go on\n'.repeat(5000);
    for (const source of [list, lines]) {
      expect(Math.max(...sources(source).map(block => block.length))).toBeLessThan(26_000);
    }
  });
});

const PIECES = [
  'plain words ',
  '**bold** ',
  '`code` ',
  '\n',
  '\n\n',
  '- item\n',
  '  nested\n',
  '1. first\n',
  '```python\n',
  '```\n',
  '~~~\n',
  '# Head\n',
  '> quote\n',
  '| a | b |\n',
  '|---|---|\n',
  '| 1 | 2 |\n',
  '$x_1$ ',
  '$$\n',
  '\\[ y \\]\n',
  '---\n',
  '[link](https://example.org) ',
  '[ref][one] ',
  '[one]: https://example.org/one\n',
  '    indented\n',
  '<b>x</b> ',
  '![p](https://example.org/p.png)\n',
  '* star\n',
  '- [x] done\n',
  'ö漢字\u202e ',
  '\r\n',
  '\t',
  '\\',
  '`',
  '*',
  '[',
  '$'
];

describe('a text that grows', () => {
  it('ends as the same blocks whichever way it is cut, and never unsettles one', () => {
    const random = seeded(7);
    for (let round = 0; round < 400; round += 1) {
      const source = Array.from({ length: 1 + random(40) }, () => PIECES[random(PIECES.length)]).join('');
      const growing = new GrowingText();
      const settled: string[] = [];
      for (let at = 0; at < source.length; at += 1 + random(9)) {
        const { blocks, settled: count } = growing.show(source.slice(0, at), false);
        const now = blocks.slice(0, count).map(block => block.source);
        expect(now.slice(0, settled.length)).toEqual(settled);
        settled.splice(0, settled.length, ...now);
      }
      const piecewise = growing.show(source, true);
      const whole = new GrowingText().show(source, true);
      expect(piecewise.blocks).toEqual(whole.blocks);
      expect(piecewise.definitions).toEqual(whole.definitions);
    }
  });

  it('starts again when the text before was replaced', () => {
    const growing = new GrowingText();
    growing.show('one\n\ntwo\n\n', false);
    expect(growing.show('other', true).blocks).toMatchObject([{ source: 'other' }]);
  });

  it('reads settled text once: the resume point moves with it', () => {
    const { resume } = cut('one\n\ntwo\n\nthr');
    expect(resume.offset).toBe('one\n\ntwo\n\n'.length);
    expect(cut('one\n\ntwo\n\nthree\n\n', resume).settled).toMatchObject([{ source: 'three' }]);
    expect(BEGINNING.offset).toBe(0);
  });
});

describe('what is too hard to format', () => {
  const cases: [string, string][] = [
    ['a line of a megabyte', 'a'.repeat(1_000_000)],
    ['ten thousand quotes', `${'>'.repeat(10_000)}x`],
    ['ten thousand lists', `${'- '.repeat(10_000)}x`],
    ['numbered depth', `${'1. '.repeat(7_000)}x`],
    ['mixed depth', `${'> - '.repeat(5_000)}x`],
    ['spaced quotes', `${'> '.repeat(5_000)}x`],
    ['links that never close', '[a]('.repeat(5_000)],
    ['emphasis that never closes', '*a '.repeat(6_000)],
    ['stars around', `${'*'.repeat(10_000)}a${'*'.repeat(10_000)}`],
    ['parentheses', `[a](${'('.repeat(20_000)}`],
    ['underscores', '_a'.repeat(9_000)]
  ];
  it.each(cases)('%s is plain text', (_, source) => {
    expect(isTooHard(source)).toBe(true);
    expect(render(source)).toBeUndefined();
  });

  it('ordinary long paragraphs and tables are not', () => {
    expect(isTooHard('A **fine** sentence with [a link](https://example.org). '.repeat(60))).toBe(false);
    expect(isTooHard(`| a | b |\n|---|---|\n${'| **x** | [y](https://example.org) |\n'.repeat(400)}`)).toBe(false);
  });
});

/** Whole numbers below a bound, the same ones each time. */
function seeded(seed: number): (below: number) => number {
  let state = seed;
  return below => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}
