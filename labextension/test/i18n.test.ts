/** Every sentence of the panel has its Chinese, and the catalogues hold nothing else. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { expect, it } from 'vitest';

const SOURCE = join(__dirname, '..', 'src');
const files = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' });

/** Titles and descriptions of JupyterLab's settings editor are sentences as well. */
function sentencesOf(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) {
    return [];
  }
  return Object.entries(value).flatMap(([name, part]) =>
    typeof part === 'string' && (name === 'title' || name === 'description') ? [part] : sentencesOf(part)
  );
}
const SCHEMA = join(SOURCE, '..', 'schema');
const schemas = readdirSync(SCHEMA)
  .filter(name => name.endsWith('.json'))
  .flatMap(name => sentencesOf(JSON.parse(readFileSync(join(SCHEMA, name), 'utf8'))));

interface Use {
  where: string;
  key: string | undefined;
}

function usesIn(name: string): Use[] {
  const source = ts.createSourceFile(name, readFileSync(join(SOURCE, name), 'utf8'), ts.ScriptTarget.Latest, true);
  const uses: Use[] = [];
  const visit = (node: ts.Node): void => {
    if (
      ts.isCallExpression(node) &&
      ts.isIdentifier(node.expression) &&
      ['t', 'tn'].includes(node.expression.text)
    ) {
      const key: ts.Expression | undefined = node.arguments[node.expression.text === 't' ? 0 : 1];
      const line = source.getLineAndCharacterOfPosition(node.getStart()).line + 1;
      uses.push({ where: `${name}:${line}`, key: key && ts.isStringLiteralLike(key) ? key.text : undefined });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return uses;
}

const uses = files.filter(name => /\.tsx?$/.test(name) && name !== 'i18n.ts').flatMap(usesIn);
const catalogues = files
  .filter(name => /^locale.*\.json$/.test(name))
  .map(name => ({ name, rows: JSON.parse(readFileSync(join(SOURCE, name), 'utf8')) as Record<string, string> }));
const holes = (sentence: string): string[] => [...new Set(sentence.match(/\{\w+\}/g) ?? [])].sort();

it('gives every sentence as a literal, but those of the settings editor', () => {
  const literal = uses.filter(use => !use.where.startsWith('lab/options.ts'));
  expect(literal.filter(use => use.key === undefined).map(use => use.where)).toEqual([]);
});

it('has a Chinese entry for every sentence', () => {
  const known = new Set(catalogues.flatMap(({ rows }) => Object.keys(rows)));
  expect(
    uses.filter(use => use.key !== undefined && !known.has(use.key)).map(use => `${use.where} ${use.key}`)
  ).toEqual([]);
});

it('has a Chinese entry for every sentence of the settings editor', () => {
  const known = new Set(catalogues.flatMap(({ rows }) => Object.keys(rows)));
  // A name is the same in every language.
  expect(schemas.filter(sentence => sentence !== 'CashCode' && !known.has(sentence))).toEqual([]);
});

it('has no entry that nothing uses', () => {
  const used = new Set([...uses.map(use => use.key), ...schemas]);
  const left = catalogues.flatMap(({ name, rows }) =>
    Object.keys(rows)
      .filter(key => !used.has(key))
      .map(key => `${name}: ${key}`)
  );
  expect(left).toEqual([]);
});

it('keeps every hole of a sentence', () => {
  const broken = catalogues.flatMap(({ name, rows }) =>
    Object.entries(rows)
      .filter(([key, value]) => holes(key).join() !== holes(value).join())
      .map(([key]) => `${name}: ${key}`)
  );
  expect(broken).toEqual([]);
});
