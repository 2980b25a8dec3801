/**
 * The protocol as types. Made by `python docs/generate.py` from the models in cashcode_jupyter/protocol/.
 *
 * An event may have more fields than stand here, and there may be more events: whoever reads them ignores both.
 */

export type ErrorCode =
  | 'bad_frame'
  | 'bad_metadata'
  | 'invalid_chat_id'
  | 'missing_content'
  | 'unknown_type'
  | 'not_found'
  | 'conflict'
  | 'forbidden'
  | 'read_only'
  | 'bad_setting'
  | 'key_required'
  | 'llm_not_configured'
  | 'llm_auth'
  | 'llm_billing'
  | 'llm_rate_limit'
  | 'llm_overloaded'
  | 'llm_server'
  | 'llm_timeout'
  | 'llm_tls'
  | 'llm_unreachable'
  | 'llm_context_overflow'
  | 'llm_payload_too_large'
  | 'llm_model_not_found'
  | 'llm_content_filter'
  | 'llm_bad_request'
  | 'llm_protocol'
  | 'tool_denied'
  | 'skill_unavailable'
  | 'mcp_unavailable'
  | 'storage'
  | 'internal';

export interface ConnectorSelection {
  server: string;
  label?: string;
}

/** Something the door attaches for the model to see as data: notebook cells, a selection, a picture. An `image` has a `data_url`, or names a `file` that the chat has from an earlier message; its `text` is empty. */
export interface ContextItem {
  kind: 'cell' | 'cells' | 'selection' | 'outline' | 'variable' | 'file' | 'image';
  label?: string;
  text: string;
  /** png, jpeg, webp or gif in base64, at most 1 MiB; at most 8 in a message */
  data_url?: string;
  /** as in the receipt of the message that brought it */
  file?: string;
  /** the size of `file`, set by the core */
  bytes?: number;
}

export interface Metadata {
  llm?: ModelChoice;
  /** comes back in the events that answer this message */
  ref?: string;
  mentioned_skills?: SkillMention[];
  selected_mcp_connectors?: ConnectorSelection[];
  context?: ContextItem[];
}

/** Which model of which provider answers. */
export interface ModelChoice {
  provider: 'openai_compatible' | 'ollama' | 'starter';
  model: string;
}

export interface SkillMention {
  name: string;
  label?: string;
}

/** Tokens of a whole turn: the sum over its model requests. */
export interface TurnUsage {
  prompt_tokens?: number;
  completion_tokens?: number;
  estimated?: boolean;
}

export interface PingAction {
  type: 'ping';
}

export interface NewChatAction {
  type: 'new_chat';
}

export interface AttachAction {
  type: 'attach';
  chat_id: string;
  after_seq?: number;
}

export interface MessageAction {
  type: 'message';
  chat_id: string;
  content: string;
  metadata?: Metadata;
}

/** `stop` is the seed's second name for it. */
export interface CancelAction {
  type: 'cancel' | 'stop';
  chat_id: string;
}

export interface SteerAction {
  type: 'steer';
  chat_id: string;
  content: string;
}

export interface ApprovalAction {
  type: 'approval';
  chat_id: string;
  call_id: string;
  decision: 'allow' | 'deny';
  scope?: 'once' | 'turn' | 'chat';
}

export interface RetryAction {
  type: 'retry';
  chat_id: string;
  from_cursor: number;
  content?: string;
}

/** Told apart by `type`. */
export type Action =
  | PingAction
  | NewChatAction
  | AttachAction
  | MessageAction
  | CancelAction
  | SteerAction
  | ApprovalAction
  | RetryAction;

export interface ReadyEvent {
  event: 'ready';
  chat_id?: string;
  seq?: number;
  turn_id?: string;
  client_id: string;
}

export interface AttachedEvent {
  event: 'attached';
  chat_id?: string;
  seq?: number;
  turn_id?: string;
  running: boolean;
  last_seq: number;
  title: string;
}

export interface PongEvent {
  event: 'pong';
  chat_id?: string;
  seq?: number;
  turn_id?: string;
}

export interface StopAckEvent {
  event: 'stop_ack';
  chat_id?: string;
  seq?: number;
  turn_id?: string;
}

export interface SteeredEvent {
  event: 'steered';
  chat_id?: string;
  seq?: number;
  turn_id?: string;
}

export interface QueuedEvent {
  event: 'queued';
  chat_id?: string;
  seq?: number;
  turn_id?: string;
  /** 1 is the next to run */
  position: number;
  /** the `ref` of the message that this answers */
  ref?: string;
}

export interface SessionUpdatedEvent {
  event: 'session_updated';
  chat_id?: string;
  seq?: number;
  turn_id?: string;
  title: string;
  /** ISO 8601 with offset */
  updated_at: string;
}

export interface TurnStartedEvent {
  event: 'turn_started';
  chat_id?: string;
  seq?: number;
  turn_id?: string;
  llm: ModelChoice;
  user_cursor: number;
  /** the `ref` of the message that this answers */
  ref?: string;
}

export interface DeltaEvent {
  event: 'delta';
  chat_id?: string;
  seq?: number;
  turn_id?: string;
  text: string;
  stream_id: number;
  first_seq?: number;
}

export interface ReasoningEvent {
  event: 'reasoning';
  chat_id?: string;
  seq?: number;
  turn_id?: string;
  text: string;
  stream_id: number;
  first_seq?: number;
}

export interface ToolCallEvent {
  event: 'tool_call';
  chat_id?: string;
  seq?: number;
  turn_id?: string;
  call_id: string;
  tool_name: string;
  /** secrets redacted */
  arguments: Record<string, unknown>;
  risk: 'read' | 'write' | 'execute' | 'network' | 'memory';
  stream_id: number;
}

export interface ApprovalRequestEvent {
  event: 'approval_request';
  chat_id?: string;
  seq?: number;
  turn_id?: string;
  call_id: string;
  tool_name: string;
  arguments: Record<string, unknown>;
  risk: 'read' | 'write' | 'execute' | 'network' | 'memory';
  /** the command, diff or URL */
  preview: string;
  expires_at: string;
}

export interface ApprovalResolvedEvent {
  event: 'approval_resolved';
  chat_id?: string;
  seq?: number;
  turn_id?: string;
  call_id: string;
  decision: 'allow' | 'deny';
  scope: 'once' | 'turn' | 'chat';
  reason: 'user' | 'timeout' | 'cancelled' | 'unattended';
}

export interface ToolResultEvent {
  event: 'tool_result';
  chat_id?: string;
  seq?: number;
  turn_id?: string;
  call_id: string;
  tool_name: string;
  ok: boolean;
  /** preview, at most 2,000 characters */
  result: string;
  truncated: boolean;
  /** `results/<call_id>.txt` when the whole result is on disk */
  spill?: string;
  duration_sec: number;
  stream_id: number;
}

export interface UsageEvent {
  event: 'usage';
  chat_id?: string;
  seq?: number;
  turn_id?: string;
  prompt_tokens: number;
  completion_tokens: number;
  context_window?: number;
  /** counted by us because the server sent no usage */
  estimated: boolean;
}

/** The model request failed before its first byte and is tried again after `delay_sec`. */
export interface RetryingEvent {
  event: 'retrying';
  chat_id?: string;
  seq?: number;
  turn_id?: string;
  code: ErrorCode;
  detail: string;
  attempt: number;
  delay_sec: number;
}

export interface StreamEndEvent {
  event: 'stream_end';
  chat_id?: string;
  seq?: number;
  turn_id?: string;
  stream_id: number;
}

export interface DoneEvent {
  event: 'done';
  chat_id?: string;
  seq?: number;
  turn_id?: string;
  duration_sec: number;
  stop_reason: 'answered' | 'cancelled' | 'budget' | 'loop' | 'suppressed';
  usage: TurnUsage;
  tool_calls: number;
}

export interface ErrorEvent {
  event: 'error';
  chat_id?: string;
  seq?: number;
  turn_id?: string;
  code: ErrorCode;
  detail: string;
  retryable: boolean;
  retry_after?: number;
  /** the `ref` of the message that this answers */
  ref?: string;
}

/** Told apart by `event`. */
export type AnyEvent =
  | ReadyEvent
  | AttachedEvent
  | PongEvent
  | StopAckEvent
  | SteeredEvent
  | QueuedEvent
  | SessionUpdatedEvent
  | TurnStartedEvent
  | DeltaEvent
  | ReasoningEvent
  | ToolCallEvent
  | ApprovalRequestEvent
  | ApprovalResolvedEvent
  | ToolResultEvent
  | UsageEvent
  | RetryingEvent
  | StreamEndEvent
  | DoneEvent
  | ErrorEvent;
