/** The list of chats. It follows what the socket tells of the chats it watches, and reads the rest. */
import { batch, signal } from '@preact/signals';
import type { AnyEvent } from '../protocol';
import type { Transport } from '../transport';
import { ofRequest } from './errors';
import type { ChatError, ChatRow, Chats } from './types';

const PAGE = 50;
const MOST = 500;
const REFRESH_MS = 1000;

interface Listing {
  sessions: { chat_id: string; title: string; updated_at: string; running: boolean }[];
  next: string | null;
}

export class ChatList implements Chats {
  readonly rows = signal<ChatRow[]>([]);
  readonly status = signal<'loading' | 'ready' | 'failed'>('loading');
  readonly error = signal<ChatError | undefined>(undefined);
  readonly more = signal(false);

  private next: string | undefined;
  private reading = 0;
  private soon: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly transport: Transport,
    private readonly onRenamed: (chatId: string, title: string) => void,
    private readonly onRemoved: (chatId: string) => void
  ) {}

  async refresh(): Promise<void> {
    clearTimeout(this.soon);
    this.soon = undefined;
    const reading = (this.reading += 1);
    const limit = Math.min(MOST, Math.max(PAGE, Math.ceil(this.rows.peek().length / PAGE) * PAGE));
    try {
      const listing = await this.transport.request<Listing>('GET', `sessions?limit=${limit}`);
      if (reading === this.reading) {
        this.take(listing, []);
      }
    } catch (error) {
      if (reading === this.reading) {
        batch(() => {
          this.error.value = ofRequest(error);
          this.status.value = 'failed';
        });
      }
    }
  }

  async loadMore(): Promise<void> {
    if (this.next === undefined) {
      return;
    }
    const reading = (this.reading += 1);
    try {
      const path = `sessions?limit=${PAGE}&before=${encodeURIComponent(this.next)}`;
      const listing = await this.transport.request<Listing>('GET', path);
      if (reading === this.reading) {
        this.take(listing, this.rows.peek());
      }
    } catch (error) {
      this.error.value = ofRequest(error);
    }
  }

  async rename(chatId: string, title: string): Promise<void> {
    const answer = await this.transport.request<{ title?: string } | undefined>('PATCH', address(chatId), {
      title
    });
    const kept = answer?.title ?? title;
    this.change(chatId, row => ({ ...row, title: kept }));
    this.onRenamed(chatId, kept);
  }

  async remove(chatId: string): Promise<void> {
    await this.transport.request('DELETE', address(chatId));
    this.rows.value = this.rows.peek().filter(row => row.chatId !== chatId);
    this.onRemoved(chatId);
  }

  hear(event: AnyEvent): void {
    const chatId = event.chat_id;
    if (chatId === undefined) {
      return;
    }
    switch (event.event) {
      case 'session_updated': {
        const known = this.rows.peek().find(row => row.chatId === chatId);
        const row = { chatId, title: event.title, updatedAt: event.updated_at, running: known?.running ?? false };
        this.rows.value = [row, ...this.rows.peek().filter(other => other.chatId !== chatId)];
        this.refreshSoon();
        break;
      }
      case 'turn_started':
        this.change(chatId, row => ({ ...row, running: true }));
        break;
      case 'done':
      case 'error':
        if (event.turn_id) {
          this.change(chatId, row => ({ ...row, running: false }));
          this.refreshSoon();
        }
        break;
      default:
    }
  }

  dispose(): void {
    clearTimeout(this.soon);
    this.reading += 1;
  }

  /** Several turns that end together are one reading. */
  private refreshSoon(): void {
    this.soon ??= setTimeout(() => void this.refresh(), REFRESH_MS);
  }

  private change(chatId: string, next: (row: ChatRow) => ChatRow): void {
    this.rows.value = this.rows.peek().map(row => (row.chatId === chatId ? next(row) : row));
  }

  private take(listing: Listing, before: ChatRow[]): void {
    const known = new Set(before.map(row => row.chatId));
    const rows = (listing.sessions ?? []).map(row => ({
      chatId: row.chat_id,
      title: row.title,
      updatedAt: row.updated_at,
      running: row.running
    }));
    batch(() => {
      this.rows.value = [...before, ...rows.filter(row => !known.has(row.chatId))];
      this.next = listing.next ?? undefined;
      this.more.value = this.next !== undefined;
      this.error.value = undefined;
      this.status.value = 'ready';
    });
  }
}

const address = (chatId: string): string => `sessions/${encodeURIComponent(chatId)}`;
