/** New messages and parts; every one has a key that never changes, so that a view keeps what it has drawn. */
import { signal } from '@preact/signals';
import type { AssistantMessage, Part, ReasoningPart, TextPart, UserMessage } from './types';

let count = 0;
/** Unique in this page. */
export const newKey = (kind: string): string => `${kind}-${(count += 1)}`;

type UserFacts = Pick<UserMessage, 'content'> &
  Partial<Pick<UserMessage, 'cursor' | 'at' | 'context' | 'skills' | 'connectors'>> & { steer?: boolean };

export function userMessage({ steer = false, ...facts }: UserFacts, state: 'sending' | 'sent'): UserMessage {
  return {
    role: 'user',
    key: newKey('user'),
    context: [],
    skills: [],
    connectors: [],
    ...facts,
    state: signal<'sending' | 'queued' | 'sent' | 'unsent'>(state),
    steer: signal(steer)
  };
}

export function assistantMessage(facts: {
  cursor?: number;
  turnId?: string;
  running: boolean;
  parts?: Part[];
}): AssistantMessage {
  return {
    role: 'assistant',
    key: newKey('assistant'),
    cursor: facts.cursor,
    turnId: facts.turnId,
    parts: signal(facts.parts ?? []),
    running: signal(facts.running),
    stopReason: signal<AssistantMessage['stopReason']['value']>(undefined),
    error: signal<AssistantMessage['error']['value']>(undefined),
    usage: signal<AssistantMessage['usage']['value']>(undefined),
    durationSec: signal<number | undefined>(undefined)
  };
}

export const textPart = (text: string): TextPart => ({ kind: 'text', key: newKey('text'), text: signal(text) });

export const reasoningPart = (text: string): ReasoningPart => ({
  kind: 'reasoning',
  key: newKey('reasoning'),
  text: signal(text),
  seconds: signal<number | undefined>(undefined)
});

/** Rounds of an answer are kept apart by an empty line, which a part of its own does not need. */
export const withoutGap = (text: string): string => text.replace(/^\n+/, '');
