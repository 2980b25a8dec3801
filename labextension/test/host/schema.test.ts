import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import zh from '../../src/locale/zh_CN/host.json';

const schema = readFileSync('schema/plugin.json', 'utf8');
// Read, not imported: JupyterLab's modules need a real browser.
const source = readFileSync('src/lab/commands.ts', 'utf8');

describe('the settings schema', () => {
  it('names only commands that exist', () => {
    const named = [...schema.matchAll(/"command": "(cashcode:[^"]*)"/g)].map(([, command]) => command);
    expect(named).not.toHaveLength(0);
    const added = [...source.matchAll(/'(cashcode:[a-z-]*)'/g)].map(([, command]) => command);
    expect(added).toEqual(expect.arrayContaining(named));
  });

  it('has every title and description in Chinese', () => {
    const texts = [...schema.matchAll(/"(?:title|description)": "([^"]*)"/g)].map(([, text]) => text);
    expect(texts.filter(text => text !== 'CashCode' && !(text in zh))).toEqual([]);
  });
});
