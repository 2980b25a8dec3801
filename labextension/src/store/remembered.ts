/** What a browser keeps for the panel: drafts, the open chat and the last model. A browser that keeps nothing is fine. */
import type { ModelChoice } from './types';

const PREFIX = 'cashcode:';
const MAX_DRAFTS = 50;
const MAX_DRAFT_CHARS = 20_000;
const MAX_UNBEGUN = 50;

function read(name: string): unknown {
  try {
    const text = globalThis.localStorage.getItem(PREFIX + name);
    return text === null ? undefined : (JSON.parse(text) as unknown);
  } catch {
    return undefined;
  }
}

function write(name: string, value: unknown): void {
  try {
    globalThis.localStorage.setItem(PREFIX + name, JSON.stringify(value));
  } catch {
    // Private windows and full quotas: the panel works, it only forgets.
  }
}

const isText = (value: unknown): value is string => typeof value === 'string';

export function openChat(): string | undefined {
  const id = read('chat');
  return isText(id) && /^[A-Za-z0-9_:-]{1,64}$/.test(id) ? id : undefined;
}

export const keepOpenChat = (chatId: string): void => write('chat', chatId);

/** Chats that were made here and have no message yet, so that there is no history to ask for. */
function unbegun(): string[] {
  const value = read('unbegun');
  return Array.isArray(value) ? value.filter(isText) : [];
}

export const isUnbegun = (chatId: string): boolean => unbegun().includes(chatId);

export const keepUnbegun = (chatId: string): void =>
  write('unbegun', [...unbegun().filter(id => id !== chatId), chatId].slice(-MAX_UNBEGUN));

export function keepBegun(chatId: string): void {
  if (isUnbegun(chatId)) {
    write(
      'unbegun',
      unbegun().filter(id => id !== chatId)
    );
  }
}

export function lastModel(): ModelChoice | undefined {
  const value = read('model');
  if (typeof value !== 'object' || value === null) {
    return undefined;
  }
  const { provider, model } = value as Record<string, unknown>;
  const known = provider === 'openai_compatible' || provider === 'ollama' || provider === 'starter';
  return known && isText(model) && model ? { provider, model } : undefined;
}

export const keepModel = (choice: ModelChoice): void => write('model', choice);

/** Drafts by chat, oldest first; read anew each time, because other panels write them too. */
function drafts(): [string, string][] {
  const value = read('drafts');
  return Array.isArray(value)
    ? value.filter((row): row is [string, string] => Array.isArray(row) && isText(row[0]) && isText(row[1]))
    : [];
}

export function draft(chatId: string): string {
  return drafts().find(([id]) => id === chatId)?.[1] ?? '';
}

export function keepDraft(chatId: string, text: string): void {
  const others = drafts().filter(([id]) => id !== chatId);
  const rows = text ? [...others, [chatId, text.slice(0, MAX_DRAFT_CHARS)] as const] : others;
  write('drafts', rows.slice(-MAX_DRAFTS));
}
