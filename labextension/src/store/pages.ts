/** The history of one chat as requests: pages of it, one message, one whole result. */
import { ApiError, type Transport } from '../transport';
import type { Bubble, StoredPage } from './history';

export const PAGE = 50;

const address = (chatId: string): string => `sessions/${encodeURIComponent(chatId)}`;

export class Pages {
  constructor(private readonly transport: Transport) {}

  /** The newest messages before a cursor, oldest first; a chat that is not there yet has none. */
  async read(chatId: string, before?: number, limit = PAGE): Promise<Bubble[]> {
    const query = before === undefined ? `limit=${limit}` : `before=${before}&limit=${limit}`;
    try {
      const page = await this.transport.request<Partial<StoredPage>>('GET', `${address(chatId)}/messages?${query}`);
      return Array.isArray(page?.messages) ? page.messages : [];
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) {
        return [];
      }
      throw error;
    }
  }

  async message(chatId: string, cursor: number): Promise<Bubble | undefined> {
    return (await this.read(chatId, cursor + 1, 1)).find(bubble => bubble.cursor === cursor);
  }

  async result(chatId: string, callId: string): Promise<string> {
    const path = `${address(chatId)}/results/${encodeURIComponent(callId)}`;
    return (await this.transport.request<{ text: string }>('GET', path)).text;
  }
}
