/** What went wrong as a sentence for people. A server's own sentence is kept; an answer that is none gets one. */
import { t } from '../../i18n';
import type { ChatError } from '../../store/types';
import { ApiError } from '../../transport';

export function sentenceOf(error: unknown): string {
  if (!(error instanceof ApiError)) {
    return t('The panel itself failed at this. Reload it and try again.');
  }
  if (error.code === 'unreachable') {
    return t('The server cannot be reached. Check that it is still running, then try again.');
  }
  if (error.code === 'bad_answer' || !error.detail) {
    return ofStatus(error.status);
  }
  return error.detail;
}

/** As `sentenceOf` for the errors that a store holds. */
export const sentenceOfChatError = (error: ChatError | undefined): string =>
  error ? sentenceOf(new ApiError(error.code, error.detail, 0)) : '';

function ofStatus(status: number): string {
  if (status === 401 || status === 403) {
    return t('The server refused this ({status}). You may be signed out: reload the page to sign in.', { status });
  }
  if (status === 404) {
    return t('The server does not know this (404). Check that the CashCode server extension is enabled.');
  }
  if (status >= 500) {
    return t('The server failed at this ({status}). Its log says more.', { status });
  }
  return t('The answer is not from CashCode; a proxy or login page may stand between. Reload the page.');
}
