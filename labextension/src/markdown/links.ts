/** Which addresses of an answer may be clicked, and which pictures are shown without asking anybody for them. */

const LONGEST_PICTURE = 300_000;
const PICTURE = /^data:image\/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/]+={0,2}$/;
const SCHEMES: ReadonlySet<string> = new Set(['http:', 'https:', 'mailto:']);

/** The whole address when it may be a link: absolute, of a known scheme. Relative ones would reach into Jupyter. */
export function safeLink(href: string): string | undefined {
  if (href.length > 8_000) return undefined;
  try {
    const url = new URL(href.trim());
    return SCHEMES.has(url.protocol) ? url.href : undefined;
  } catch {
    return undefined;
  }
}

/** A small picture that is part of the text itself. */
export const isInlinePicture = (source: string): boolean =>
  source.length <= LONGEST_PICTURE && PICTURE.test(source);

/** Whom a click would ask: the host of a link. */
export function hostOf(link: string): string {
  const url = new URL(link);
  return url.protocol === 'mailto:' ? url.pathname : url.host;
}
