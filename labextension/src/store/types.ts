/** The shapes that the stores hold and the views show. Everything that changes while it is shown is a signal. */
import type { ReadonlySignal, Signal } from '@preact/signals';

export type Provider = 'openai_compatible' | 'ollama' | 'starter';
export interface ModelChoice {
  provider: Provider;
  model: string;
}
export type Risk = 'read' | 'write' | 'execute' | 'network' | 'memory';
export type Scope = 'once' | 'turn' | 'chat';

export interface SkillRow {
  name: string;
  label?: string;
}
export interface ConnectorRow {
  server: string;
  label?: string;
}
/** What was attached; `chars` in history, `text` before it is sent. */
export interface ContextRow {
  kind: string;
  label: string;
  chars?: number;
}

export interface ChatError {
  code: string;
  detail: string;
  retryable: boolean;
  /** Seconds. */
  retryAfter?: number;
}

export interface UserMessage {
  role: 'user';
  /** Stable identity for rendering; not the cursor, which is known only when the server has stored it. */
  key: string;
  cursor?: number;
  content: string;
  /** ISO 8601 or "YYYY-MM-DD HH:MM" as the server gives it. */
  at?: string;
  context: ContextRow[];
  skills: SkillRow[];
  connectors: ConnectorRow[];
  /** `unsent`: the connection broke before the server took it; the person may send it again. */
  state: Signal<'sending' | 'queued' | 'sent' | 'unsent'>;
  /** It joins a running turn. False again when that turn ended before it and it began one of its own. */
  steer: Signal<boolean>;
}

export interface TextPart {
  kind: 'text';
  key: string;
  text: Signal<string>;
}
export interface ReasoningPart {
  kind: 'reasoning';
  key: string;
  text: Signal<string>;
  /** Seconds it took; undefined while it goes on or when nobody measured it. */
  seconds: Signal<number | undefined>;
}
export interface Approval {
  preview: string;
  expiresAt: string;
  /** undefined: waits for the person. */
  decision?: 'allow' | 'deny';
  reason?: 'user' | 'timeout' | 'cancelled' | 'unattended';
}
export interface ToolState {
  status: 'running' | 'asking' | 'ok' | 'failed';
  result: string;
  truncated: boolean;
  /** `results/<call_id>.txt`: the whole result is at `sessions/{chat_id}/results/{call_id}`. */
  spill?: string;
  durationSec?: number;
  approval?: Approval;
}
export interface ToolPart {
  kind: 'tool';
  key: string;
  callId: string;
  name: string;
  arguments: Record<string, unknown>;
  risk: Risk;
  /** `performance.now()` when the call was heard; undefined in history. */
  startedAt?: number;
  state: Signal<ToolState>;
}
/** A dim line in the answer: a retry of the request, a compaction. */
export interface NoticePart {
  kind: 'notice';
  key: string;
  text: string;
}
export type Part = TextPart | ReasoningPart | ToolPart | NoticePart;

export interface Usage {
  promptTokens: number;
  completionTokens: number;
  contextWindow?: number;
  estimated: boolean;
}

export interface AssistantMessage {
  role: 'assistant';
  key: string;
  cursor?: number;
  turnId?: string;
  parts: Signal<Part[]>;
  /** True from `turn_started` to `done` or `error`. */
  running: Signal<boolean>;
  stopReason: Signal<'answered' | 'cancelled' | 'budget' | 'loop' | 'suppressed' | undefined>;
  error: Signal<ChatError | undefined>;
  usage: Signal<Usage | undefined>;
  durationSec: Signal<number | undefined>;
}
export type ChatMessage = UserMessage | AssistantMessage;

/** What goes out with a message besides its words. */
export interface Attachments {
  skills: SkillRow[];
  connectors: ConnectorRow[];
  context: { kind: string; label: string; text: string }[];
  /** Pasted pictures as data URLs. */
  images: { label: string; dataUrl: string }[];
}

/** One chat that a panel shows. */
export interface Chat {
  readonly id: ReadonlySignal<string>;
  readonly title: ReadonlySignal<string>;
  readonly messages: ReadonlySignal<ChatMessage[]>;
  /** `loading` skeleton · `ready` · `failed` with `loadError`. */
  readonly status: ReadonlySignal<'loading' | 'ready' | 'failed'>;
  readonly loadError: ReadonlySignal<ChatError | undefined>;
  readonly running: ReadonlySignal<boolean>;
  /** An error that belongs to no turn (bad metadata, no model configured …); a new send clears it. */
  readonly problem: ReadonlySignal<ChatError | undefined>;
  readonly older: ReadonlySignal<'none' | 'some' | 'loading' | 'failed'>;
  /** The model of the last turn, or undefined. */
  readonly model: ReadonlySignal<ModelChoice | undefined>;

  /** Idle: a message. Running: it steers the turn. False (and nothing changed) when there is no connection. */
  send(content: string, attachments?: Partial<Attachments>, model?: ModelChoice): boolean;
  /** Send an `unsent` message once more. */
  resend(key: string): void;
  stop(): void;
  decide(callId: string, decision: 'allow' | 'deny', scope: Scope): void;
  /** A new chat that shares what came before this user message; `content` replaces its words. */
  retry(cursor: number, content?: string): void;
  loadOlder(): Promise<void>;
  /** Try again after `failed`. */
  reload(): Promise<void>;
  /** The whole result of a call. */
  fullResult(callId: string): Promise<string>;
}

export interface ChatRow {
  chatId: string;
  title: string;
  updatedAt: string;
  running: boolean;
}

/** The list of chats; a filter works on titles. */
export interface Chats {
  readonly rows: ReadonlySignal<ChatRow[]>;
  readonly status: ReadonlySignal<'loading' | 'ready' | 'failed'>;
  readonly error: ReadonlySignal<ChatError | undefined>;
  readonly more: ReadonlySignal<boolean>;
  refresh(): Promise<void>;
  loadMore(): Promise<void>;
  /** Rejects with `ApiError`. */
  rename(chatId: string, title: string): Promise<void>;
  remove(chatId: string): Promise<void>;
}

export interface ModelRow extends ModelChoice {
  contextWindow?: number;
  vision?: boolean;
}
export interface ProviderState {
  ready: boolean;
  error?: string;
}

export interface Models {
  readonly rows: ReadonlySignal<ModelRow[]>;
  readonly providers: ReadonlySignal<Partial<Record<Provider, ProviderState>>>;
  readonly status: ReadonlySignal<'loading' | 'ready' | 'failed'>;
  readonly error: ReadonlySignal<ChatError | undefined>;
  /** The default of the settings. */
  readonly fallback: ReadonlySignal<ModelChoice | undefined>;
  refresh(): Promise<void>;
}

/** `GET settings/llm` */
export interface LlmView {
  configured: boolean;
  openai_compatible: { base_url: string; ready: boolean; api_key_configured: boolean };
  ollama: { base_url: string; ready: boolean };
  starter: { ready: boolean; model: string | null };
  default: ModelChoice | null;
}
export interface LlmBody {
  openai_compatible?: { base_url: string; api_key?: string; clear_api_key?: boolean };
  ollama?: { base_url: string };
  default?: ModelChoice;
}
export interface TestAnswer {
  success: boolean;
  provider: string;
  model_count: number;
  message: string;
}
export type Policy = 'allow' | 'ask' | 'deny';
export interface ApprovalsView {
  risks: Record<Risk, Policy>;
  tools: Record<string, Policy>;
}
export interface PersonaView {
  text: string;
  hash: string;
  builtin: boolean;
}

export interface Settings {
  /** undefined until it was read. */
  readonly llm: ReadonlySignal<LlmView | undefined>;
  readonly status: ReadonlySignal<'loading' | 'ready' | 'failed'>;
  readonly error: ReadonlySignal<ChatError | undefined>;
  refresh(): Promise<void>;
  /** All of these reject with `ApiError`. */
  saveLlm(body: LlmBody): Promise<LlmView>;
  testLlm(body: LlmBody): Promise<TestAnswer>;
  approvals(): Promise<ApprovalsView>;
  saveApprovals(view: ApprovalsView): Promise<ApprovalsView>;
  persona(): Promise<PersonaView>;
  /** A stale hash rejects with code `conflict` and `facts.current_hash`. */
  savePersona(text: string, expectedHash: string): Promise<PersonaView>;
}

/** What the `@` picker offers; servers without these lists give empty ones. */
export interface Selections {
  skills(): Promise<SkillRow[]>;
  connectors(): Promise<ConnectorRow[]>;
}

/** Everything a panel holds. */
export interface Store {
  readonly connection: ReadonlySignal<'connecting' | 'open' | 'lost'>;
  /** A sentence that says why there is no connection, when it is known; undefined otherwise. */
  readonly connectionProblem: ReadonlySignal<string | undefined>;
  readonly chat: Chat;
  readonly chats: Chats;
  readonly models: Models;
  readonly settings: Settings;
  readonly selections: Selections;
  /** Which view is shown. */
  readonly view: Signal<View>;
  openChat(chatId: string): void;
  newChat(): void;
  /** Try to connect now. */
  reconnect(): void;
  /** Text that is typed and not sent, per chat; survives a reload. */
  draft(chatId: string): string;
  setDraft(chatId: string, text: string): void;
  dispose(): void;
}
export type View = 'chat' | 'chats' | 'settings';
