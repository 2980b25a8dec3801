/** Characters that change what a line seems to say without being seen: written out where a person decides by it. */

const DIRECTION = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
const INVISIBLE = /[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff]/g;

const written = (character: string): string =>
  `⟨U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}⟩`;

/** Direction marks and zero-width characters as "⟨U+202E⟩". */
export const revealHidden = (text: string): string => text.replace(INVISIBLE, written);

/** Only what reorders a line: in code, joiners inside strings are ordinary. */
export const revealDirection = (text: string): string => text.replace(DIRECTION, written);
