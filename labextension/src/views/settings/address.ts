/** What a base URL may be, said while it is typed; the server has the last word by the same rules. */
import { t } from '../../i18n';

export const OLLAMA = 'http://127.0.0.1:11434';

/** The rule that is broken, or an empty string. Empty addresses are fine here. */
export function addressProblem(text: string): string {
  const address = text.trim();
  if (!address) {
    return '';
  }
  if (!/^https?:\/\/[^\s/\\]/i.test(address) || /[\s\\]/.test(address) || !URL.canParse(address)) {
    return t('An address begins with http:// or https:// and has no spaces.');
  }
  const url = new URL(address);
  if (url.username || url.password) {
    return t('No user name or password in the address: the key has its own field.');
  }
  if (/[?#]/.test(address)) {
    return t('No query (?) and no fragment (#) in the address.');
  }
  return '';
}

/** As the server stores it, so that a slash at the end is no change. */
export const plainAddress = (text: string): string => text.trim().replace(/\/+$/, '');

/** A key travels in a header. */
export const keyProblem = (key: string): string =>
  /^[!-~]*$/.test(key.trim()) ? '' : t('A key has only letters, digits and signs, without spaces.');
