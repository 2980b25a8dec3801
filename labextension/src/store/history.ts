/** Stored messages as `GET sessions/{id}/messages` gives them, read with care: what is not there is left out. */
import { signal } from '@preact/signals';
import { interrupted, isInterrupted, ofHistory } from './errors';
import { assistantMessage, newKey, reasoningPart, textPart, userMessage, withoutGap } from './messages';
import type {
  AssistantMessage,
  ChatError,
  ConnectorRow,
  ContextRow,
  Part,
  Risk,
  SkillRow,
  ToolPart,
  ToolState,
  Usage,
  UserMessage
} from './types';

export interface StoredCall {
  call_id: string;
  tool_name: string;
  arguments?: Record<string, unknown>;
  ok?: boolean;
  result?: string;
  truncated?: boolean;
  duration_sec?: number;
  risk?: Risk;
  spill?: string;
}
export type StoredPart =
  { kind: 'text'; text: string } | { kind: 'reasoning'; text: string } | { kind: 'call'; call_id: string };
export interface Outcome {
  stop_reason?: string;
  error?: string | { code: string; detail?: string };
}

/** One message of the history. `parts`, `at` and `outcome` are younger than the rest, so a server may lack them. */
export interface Bubble {
  cursor: number;
  role: 'user' | 'assistant';
  content: string;
  mentioned_skills?: SkillRow[];
  selected_mcp_connectors?: ConnectorRow[];
  context?: ContextRow[];
  tool_calls?: StoredCall[];
  usage?: { prompt_tokens?: number; completion_tokens?: number; context_window?: number; estimated?: boolean };
  parts?: StoredPart[];
  at?: string;
  outcome?: Outcome;
}

export interface StoredPage {
  messages: Bubble[];
}

const rows = <T>(value: T[] | undefined): T[] => (Array.isArray(value) ? value : []);

export function userOf(bubble: Bubble): UserMessage {
  return userMessage(
    {
      cursor: bubble.cursor,
      content: bubble.content,
      at: bubble.at,
      context: rows(bubble.context),
      skills: rows(bubble.mentioned_skills),
      connectors: rows(bubble.selected_mcp_connectors)
    },
    'sent'
  );
}

export function assistantOf(bubble: Bubble): AssistantMessage {
  const message = assistantMessage({ cursor: bubble.cursor, running: false, parts: partsOf(bubble) });
  takeFacts(message, bubble);
  return message;
}

/** The answer that a turn did not give. */
export function unansweredOf(outcome: Outcome): AssistantMessage {
  const message = assistantMessage({ running: false });
  takeOutcome(message, outcome);
  return message;
}

/**
 * Make an answer that was heard in part into what the history has of it; what is the same stays as it is. A server
 * that was killed has stored the finished calls only: then what was heard beyond them is kept.
 */
export function settle(message: AssistantMessage, bubble: Bubble): void {
  const parts = partsOf(bubble);
  if (isInterrupted(message.error.peek())) {
    const ended = bubble.outcome !== undefined && bubble.outcome.stop_reason !== 'interrupted';
    if (!ended && isBehind(parts, message.parts.peek())) {
      message.cursor = bubble.cursor;
      return;
    }
    message.error.value = undefined;
  }
  if (signature(parts) !== signature(message.parts.peek())) {
    message.parts.value = parts;
  }
  message.cursor = bubble.cursor;
  message.running.value = false;
  takeFacts(message, bubble);
}

export function takeOutcome(message: AssistantMessage, outcome: Outcome | undefined): void {
  const reason = outcome?.stop_reason;
  if (reason !== undefined && isInterrupted(message.error.peek())) {
    message.error.value = undefined; // the history knows how it ended
  }
  if (
    reason === 'answered' ||
    reason === 'cancelled' ||
    reason === 'budget' ||
    reason === 'loop' ||
    reason === 'suppressed'
  ) {
    message.stopReason.value ??= reason;
  }
  message.error.value ??= reason === 'interrupted' ? interrupted() : errorOf(outcome?.error);
}

function errorOf(error: Outcome['error']): ChatError | undefined {
  if (error == null) {
    return undefined;
  }
  return typeof error === 'string' ? ofHistory(error) : ofHistory(error.code, error.detail);
}

function takeFacts(message: AssistantMessage, bubble: Bubble): void {
  message.usage.value ??= usageOf(bubble.usage);
  takeOutcome(message, bubble.outcome);
  if (message.error.peek() === undefined) {
    message.stopReason.value ??= 'answered';
  }
}

/** The history keeps the sum over a turn's requests, which says nothing of how full the context is. */
function usageOf(usage: Bubble['usage']): Usage | undefined {
  if (!usage || typeof usage.prompt_tokens !== 'number') {
    return undefined;
  }
  return {
    promptTokens: usage.prompt_tokens,
    completionTokens: usage.completion_tokens ?? 0,
    contextWindow: usage.context_window,
    estimated: usage.estimated ?? false
  };
}

function partsOf(bubble: Bubble): Part[] {
  const calls = new Map(rows(bubble.tool_calls).map(call => [call.call_id, call]));
  const parts: Part[] = [];
  for (const part of rows(bubble.parts)) {
    if (part.kind === 'call') {
      const call = calls.get(part.call_id);
      if (call) {
        parts.push(toolOf(call));
        calls.delete(part.call_id);
      }
    } else if ((part.kind === 'text' || part.kind === 'reasoning') && withoutGap(part.text)) {
      parts.push(part.kind === 'text' ? textPart(withoutGap(part.text)) : reasoningPart(withoutGap(part.text)));
    }
  }
  const left = [...calls.values()].map(toolOf);
  if (bubble.parts) {
    return [...parts, ...left];
  }
  return withoutGap(bubble.content) ? [...left, textPart(withoutGap(bubble.content))] : left;
}

function toolOf(call: StoredCall): ToolPart {
  return {
    kind: 'tool',
    key: newKey('tool'),
    callId: call.call_id,
    name: call.tool_name,
    arguments: call.arguments ?? {},
    risk: call.risk ?? 'read',
    state: signal<ToolState>({
      status: call.ok ? 'ok' : 'failed',
      result: call.result ?? '',
      truncated: call.truncated ?? false,
      spill: call.spill,
      durationSec: call.duration_sec
    })
  };
}

/** Whether the stored parts are only the beginning of what was heard. */
function isBehind(stored: Part[], heard: Part[]): boolean {
  const shown = heard.filter(part => part.kind !== 'notice');
  const same = stored.filter((part, index) => keyOf(part) === keyOf(shown.at(index))).length;
  if (same === stored.length) {
    return shown.length > same;
  }
  const [end, heardEnd] = [stored.at(-1), shown.at(stored.length - 1)];
  const grew = end?.kind === 'text' && heardEnd?.kind === 'text' && keyOf(heardEnd).startsWith(keyOf(end));
  return same === stored.length - 1 && grew;
}

function keyOf(part: Part | undefined): string {
  switch (part?.kind) {
    case 'text':
    case 'reasoning':
      return `${part.kind} ${part.text.peek().trimEnd()}`;
    case 'tool':
      return `call ${part.callId}`;
    default:
      return '';
  }
}

/** What a reader sees of the parts; notices are not in the history. */
function signature(parts: Part[]): string {
  return JSON.stringify(
    parts.flatMap(part => {
      switch (part.kind) {
        case 'notice':
          return [];
        case 'tool':
          return [[part.callId, part.state.peek().status, part.state.peek().result]];
        default:
          return [[part.kind, part.text.peek()]];
      }
    })
  );
}
