/** REST answers as values or as `ApiError`; never as anything else, whatever a proxy puts in between. */
import { t } from '../i18n';
import { ApiError, type Method } from '../transport';

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export async function ask<T>(
  fetch: Fetch,
  url: string,
  method: Method,
  body: unknown,
  signal: AbortSignal | undefined
): Promise<T> {
  const init: RequestInit = { method, ...(signal && { signal }) };
  if (body !== undefined) {
    init.body = JSON.stringify(body);
    init.headers = { 'Content-Type': 'application/json' };
  }
  let response: Response;
  let text: string;
  try {
    response = await fetch(url, init);
    text = await response.text();
  } catch (error) {
    throw signal?.aborted || (error instanceof Error && error.name === 'AbortError') ? aborted() : unreachable();
  }
  if (signal?.aborted) {
    throw aborted();
  }
  return answer<T>(response.status, parsed(text), text.trim() === '');
}

/** What a status and a JSON body (undefined when it is none) mean. */
export function answer<T>(status: number, body: unknown, empty = body === undefined): T {
  if (status >= 200 && status < 300) {
    if (body === undefined && !(empty && status === 204)) {
      throw new ApiError('bad_answer', t('The server gave an answer that is not from CashCode.'), status);
    }
    return body as T;
  }
  if (typeof body === 'object' && body !== null && 'code' in body && 'detail' in body) {
    const { code, detail, ...facts } = body;
    if (typeof code === 'string' && typeof detail === 'string') {
      throw new ApiError(code, detail, status, facts);
    }
  }
  throw new ApiError('bad_answer', sentence(status), status);
}

export const aborted = (): ApiError => new ApiError('aborted', t('The request was cancelled.'), 0);

export const unreachable = (): ApiError =>
  new ApiError('unreachable', t('The server cannot be reached. Check that it still runs.'), 0);

export const signedOut = (): string => t('You are signed out of the Jupyter server. Reload the page.');

/** For answers without a body of ours: of a proxy, of Jupyter's login, of a server without CashCode. */
function sentence(status: number): string {
  switch (status) {
    case 401:
    case 403:
      return signedOut();
    case 404:
      return t('This Jupyter server has no CashCode; install it there and restart the server.');
    case 413:
      return t('This is too large for the server.');
    case 502:
    case 503:
    case 504:
      return t('The Jupyter server does not answer at the moment (HTTP {status}).', { status });
    default:
      return t('The server answered with HTTP {status} and no explanation.', { status });
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
