/** A store whose chat a test writes by hand; what the person does is kept in `calls`. */
import { signal } from '@preact/signals';
import type { Signal } from '@preact/signals';
import type {
  Approval,
  AssistantMessage,
  Chat,
  ChatError,
  ChatMessage,
  Part,
  Store,
  TextPart,
  ToolPart,
  ToolState,
  UserMessage,
  View
} from '../../src/store/types';

export interface FakeChat {
  store: Store;
  calls: unknown[][];
  messages: Signal<ChatMessage[]>;
  status: Signal<'loading' | 'ready' | 'failed'>;
  older: Signal<'none' | 'some' | 'loading' | 'failed'>;
  problem: Signal<ChatError | undefined>;
  loadError: Signal<ChatError | undefined>;
  view: Signal<View>;
  fullResult: (callId: string) => Promise<string>;
}

export function fakeChat(messages: ChatMessage[] = []): FakeChat {
  const calls: unknown[][] = [];
  const fake = {
    calls,
    messages: signal(messages),
    status: signal<'loading' | 'ready' | 'failed'>('ready'),
    older: signal<'none' | 'some' | 'loading' | 'failed'>('none'),
    problem: signal<ChatError | undefined>(undefined),
    loadError: signal<ChatError | undefined>(undefined),
    view: signal<View>('chat'),
    fullResult: (callId: string): Promise<string> => Promise.resolve(`whole result of ${callId}`)
  } as FakeChat;
  const note =
    (name: string) =>
    (...given: unknown[]): void =>
      void calls.push([name, ...given]);
  const later =
    (name: string) =>
    (...given: unknown[]): Promise<void> => {
      calls.push([name, ...given]);
      return Promise.resolve();
    };
  const chat: Partial<Chat> = {
    id: signal('chat-1'),
    title: signal('A chat'),
    messages: fake.messages,
    status: fake.status,
    loadError: fake.loadError,
    problem: fake.problem,
    older: fake.older,
    running: signal(false),
    send: (...given) => calls.push(['send', ...given]) > 0,
    resend: note('resend'),
    decide: note('decide'),
    retry: note('retry'),
    loadOlder: later('loadOlder'),
    reload: later('reload'),
    fullResult: callId => fake.fullResult(callId)
  };
  fake.store = { chat: chat as Chat, view: fake.view, newChat: note('newChat') } as unknown as Store;
  return fake;
}

let keys = 0;
const key = (): string => `k${(keys += 1)}`;

export function user(content: string, more: Partial<Omit<UserMessage, 'state'>> = {}, state = 'sent'): UserMessage {
  return {
    role: 'user',
    key: key(),
    content,
    context: [],
    skills: [],
    connectors: [],
    state: signal(state) as UserMessage['state'],
    steer: signal(false),
    ...more
  };
}

export function text(words: string): TextPart {
  return { kind: 'text', key: key(), text: signal(words) };
}

export function tool(name: string, state: Partial<ToolState> = {}, given: Record<string, unknown> = {}): ToolPart {
  const whole: ToolState = { status: 'ok', result: 'fine', truncated: false, durationSec: 0.012, ...state };
  const id = key();
  return {
    kind: 'tool',
    key: id,
    callId: `call-${id}`,
    name,
    arguments: given,
    risk: 'execute',
    state: signal(whole)
  };
}

export function asking(preview: string, more: Partial<Approval> = {}): Partial<ToolState> {
  const expiresAt = new Date(Date.now() + 90_000).toISOString();
  return { status: 'asking', result: '', durationSec: undefined, approval: { preview, expiresAt, ...more } };
}

export interface Answer {
  running?: boolean;
  stopReason?: 'answered' | 'cancelled' | 'budget' | 'loop' | 'suppressed';
  error?: ChatError;
  usage?: { promptTokens: number; completionTokens: number; contextWindow?: number; estimated: boolean };
}

export function assistant(parts: Part[], more: Answer = {}): AssistantMessage {
  return {
    role: 'assistant',
    key: key(),
    parts: signal(parts),
    running: signal(more.running ?? false),
    stopReason: signal(more.stopReason),
    error: signal(more.error),
    usage: signal(more.usage),
    durationSec: signal<number | undefined>(undefined)
  };
}
