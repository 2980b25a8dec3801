/** What may leave a notebook for a model: bounded, and saying so when something was left out. */

/** The server takes no more from one context row. */
export const TEXT_LIMIT = 100_000;
export const LABEL_LIMIT = 200;

/** `text`, or its beginning with a last line that says how much is missing; never longer than the limit. */
export function bounded(text: string, limit = TEXT_LIMIT): string {
  if (text.length <= limit) {
    return text;
  }
  const note = (left: number): string => `\n[truncated: ${left.toLocaleString('en')} more characters]`;
  const kept = whole(text.slice(0, limit - note(text.length).length));
  return kept + note(text.length - kept.length);
}

/** One line of at most `limit` characters. */
export function oneLine(text: string, limit = LABEL_LIMIT): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length <= limit ? line : `${whole(line.slice(0, limit - 1))}…`;
}

/** Without half of a character at the end. */
const whole = (text: string): string => text.replace(/[\uD800-\uDBFF]$/, '');
