/** What is too long or too tangled to be parsed as Markdown while somebody waits; it is shown as plain text. */

const LONGEST = 60_000;
const LONGEST_LINE = 20_000;
const DEEPEST = 24;

/** marked tries every delimiter of a paragraph against the rest of it: these products bound the time it needs. */
const EMPHASIS_WORK = 2_000_000;
const BRACKET_WORK = 20_000_000;
const OPEN_LINK_WORK = 200_000_000;

export function isTooHard(source: string): boolean {
  if (source.length > LONGEST) return true;
  for (const line of source.split('\n')) {
    if (line.length > LONGEST_LINE || depth(line) > DEEPEST) return true;
  }
  return source.split(/\n[ \t]*\n/).some(isTangled);
}

function isTangled(paragraph: string): boolean {
  const size = paragraph.length;
  if (size < 500) return false;
  if (occurrences(paragraph, /[*_]/g) * size > EMPHASIS_WORK * (isTable(paragraph) ? 20 : 1)) return true;
  if (occurrences(paragraph, /[([]/g) * size > BRACKET_WORK * (isTable(paragraph) ? 10 : 1)) return true;
  const links = paragraph.split('](');
  const open = links.filter((piece, index) => index > 0 && !piece.includes(')')).length;
  return open * size * size > OPEN_LINK_WORK;
}

/** Each cell of a table is parsed on its own. */
const isTable = (paragraph: string): boolean => /^[^\n]*\|[^\n]*\n[ \t]*\|?[ \t]*:?-/.test(paragraph);

/** How many quotes and lists begin on one line. */
function depth(line: string): number {
  let found = 0;
  for (const word of line.slice(0, 400).split(/[ \t]+/)) {
    if (/^>+$/.test(word)) found += word.length;
    else if (/^(?:[-*+]|\d{1,9}[.)])$/.test(word)) found += 1;
    else if (word.startsWith('>')) return found + (/^>+/.exec(word)?.[0].length ?? 0);
    else if (word !== '') break;
  }
  return found;
}

const occurrences = (text: string, what: RegExp): number => text.match(what)?.length ?? 0;
