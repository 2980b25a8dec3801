/** Where in the text a picker was asked for: an `@word` before the caret, or a `/word` that is the whole text. */
export interface Token {
  kind: '@' | '/';
  start: number;
  end: number;
  /** What is typed after the sign. */
  query: string;
}

export function tokenAt(text: string, caret: number): Token | undefined {
  const before = text.slice(0, caret);
  const command = /^\/([a-z]*)$/i.exec(before);
  if (command && caret === text.length) {
    return { kind: '/', start: 0, end: caret, query: command[1] };
  }
  const mention = /(^|[\s(（，。、])@([^\s@]{0,64})$/.exec(before);
  return mention ? { kind: '@', start: caret - mention[2].length - 1, end: caret, query: mention[2] } : undefined;
}

/** All words of the query in the text, in any order and case. */
export const matches = (query: string, ...texts: (string | undefined)[]): boolean => {
  const text = texts.join(' ').toLowerCase();
  return query
    .toLowerCase()
    .split(/\s+/)
    .every(word => text.includes(word));
};
