/**
 * Link definitions (`[label]: address`) hold for the whole text, yet blocks are parsed alone: a block that mentions a
 * label gets its definition in front of it, so that its content alone still says how it looks.
 */
import type { Block } from './blocks';

const DEFINITION = /^ {0,3}\[([^\]\n]{1,200})\]:[ \t]*(?:<([^<>\n]*)>|(\S+))(?:[ \t]+["'(][^\n]*)?[ \t]*$/gm;
const MENTION = /\[([^[\]\n]{1,200})\]/g;

export type Definitions = ReadonlyMap<string, string>;

/** Add the definitions of a block; the first one of a label counts. */
export function define(block: Block, definitions: Map<string, string>): void {
  if (block.kind !== 'markdown' || !block.source.includes(']:')) return;
  for (const [, label, pointed, bare] of block.source.matchAll(DEFINITION)) {
    const key = normal(label);
    if (!definitions.has(key)) definitions.set(key, pointed ?? bare);
  }
}

/** The source of a block with the definitions it needs. */
export function withDefinitions(source: string, definitions: Definitions): string {
  if (definitions.size === 0) return source;
  const needed = new Set<string>();
  for (const [, label] of source.matchAll(MENTION)) {
    const key = normal(label);
    if (definitions.has(key)) needed.add(key);
  }
  const lines = [...needed].map(key => `[${key}]: <${definitions.get(key) ?? ''}>\n`);
  return lines.length > 0 ? `${lines.join('')}\n${source}` : source;
}

const normal = (label: string): string => label.trim().toLowerCase().replace(/\s+/g, ' ');
