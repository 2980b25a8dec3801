/** Failures of requests and of turns in the one shape that views show. */
import { t } from '../i18n';
import type { ErrorEvent } from '../protocol';
import { ApiError } from '../transport';
import type { ChatError } from './types';

export function ofRequest(error: unknown): ChatError {
  if (error instanceof ApiError) {
    return { code: error.code, detail: error.detail, retryable: error.status === 0 || error.status >= 500 };
  }
  return { code: 'internal', detail: error instanceof Error ? error.message : String(error), retryable: true };
}

export function ofEvent(event: ErrorEvent): ChatError {
  return {
    code: event.code,
    detail: event.detail,
    retryable: event.retryable,
    ...(event.retry_after === undefined ? {} : { retryAfter: event.retry_after })
  };
}

/** A turn of the history that failed; its sentence is not kept there, only its code. */
export function ofHistory(code: string, detail?: string): ChatError {
  return { code, detail: detail ?? t('This answer ended with an error ({code}).', { code }), retryable: true };
}

/** Not of the protocol: the panel or the history found that nobody goes on with a turn that did not end. */
const INTERRUPTED = 'interrupted';

export const interrupted = (): ChatError => ({
  code: INTERRUPTED,
  detail: t('The server stopped before this answer was complete.'),
  retryable: true
});

export const isInterrupted = (error: ChatError | undefined): boolean => error?.code === INTERRUPTED;

export const notConnected = (): ChatError => ({
  code: 'unreachable',
  detail: t('There is no connection to CashCode at the moment.'),
  retryable: true
});
