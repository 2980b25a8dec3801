/**
 * A running turn: its events become the parts of an answer. After a steer the answer goes on in a new message, so a
 * turn has one or more segments; results and approvals find their call in whichever segment it stands.
 */
import { signal } from '@preact/signals';
import { t } from '../i18n';
import type { AnyEvent, ApprovalRequestEvent, ToolCallEvent } from '../protocol';
import { interrupted, ofEvent } from './errors';
import { newKey, reasoningPart, textPart, withoutGap } from './messages';
import type { Stream } from './stream';
import type { AssistantMessage, Part, ReasoningPart, ToolPart, ToolState } from './types';

export class Turn {
  /** Something happened in it that only the history can tell, e.g. the words of another tab's steer. */
  incomplete = false;
  private readonly segments: AssistantMessage[];
  private thinking: { part: ReasoningPart; since: number } | undefined;

  constructor(
    readonly id: string,
    /** The cursor of the message that it answers. */
    readonly userCursor: number,
    first: AssistantMessage,
    private readonly stream: Stream
  ) {
    this.segments = [first];
  }

  /** The message that grows. */
  get answer(): AssistantMessage {
    return this.segments[this.segments.length - 1];
  }

  get messages(): readonly AssistantMessage[] {
    return this.segments;
  }

  /** Go on in another message. */
  goOnIn(message: AssistantMessage): void {
    this.endPart();
    this.answer.running.value = false;
    this.segments.push(message);
  }

  hear(event: AnyEvent): void {
    switch (event.event) {
      case 'delta':
        this.say(event.text);
        break;
      case 'reasoning':
        this.think(event.text);
        break;
      case 'tool_call':
        this.call(event);
        break;
      case 'approval_request':
        this.ask(event);
        break;
      case 'approval_resolved':
        this.change(event.call_id, state => ({
          ...state,
          status: event.decision === 'allow' ? 'running' : 'failed',
          approval: state.approval && { ...state.approval, decision: event.decision, reason: event.reason }
        }));
        break;
      case 'tool_result':
        this.change(event.call_id, state => ({
          ...state,
          status: event.ok ? 'ok' : 'failed',
          result: event.result,
          truncated: event.truncated,
          spill: event.spill,
          durationSec: event.duration_sec
        }));
        break;
      case 'retrying':
        this.note(
          t('{detail} Trying again in {seconds} s (attempt {attempt}).', {
            detail: event.detail,
            seconds: event.delay_sec,
            attempt: event.attempt
          })
        );
        break;
      case 'usage':
        this.answer.usage.value = {
          promptTokens: event.prompt_tokens,
          completionTokens: event.completion_tokens,
          contextWindow: event.context_window,
          estimated: event.estimated
        };
        break;
      case 'stream_end':
        this.endPart();
        break;
      case 'done':
        this.answer.durationSec.value = event.duration_sec;
        this.answer.stopReason.value = event.stop_reason;
        this.end();
        break;
      case 'error':
        this.answer.error.value = ofEvent(event);
        this.end();
        break;
      default:
      // Not of the inside of a turn, or younger than this panel.
    }
  }

  /** Nothing more comes. */
  end(): void {
    this.endPart();
    for (const message of this.segments) {
      message.running.value = false;
    }
  }

  /** After a call the model speaks; whether it did not is what an answer of the history does not tell. */
  get endsInCall(): boolean {
    return this.last?.kind === 'tool' && this.answer.error.peek() === undefined;
  }

  /** Its server is gone, and nobody goes on with it: what was said stays, and it says so. */
  breakOff(): void {
    for (const part of this.segments.flatMap(message => message.parts.peek())) {
      if (part.kind === 'tool' && ['running', 'asking'].includes(part.state.peek().status)) {
        part.state.value = { ...part.state.peek(), status: 'failed' };
      }
    }
    this.answer.stopReason.value = undefined;
    this.answer.error.value ??= interrupted();
  }

  /** A last message in which nothing was said after a steer, if there is one; the one before takes its facts. */
  withoutEmpty(): AssistantMessage[] {
    const [before, last] = this.segments.slice(-2);
    if (!last || last.parts.peek().length > 0 || last.error.peek()) {
      return [];
    }
    before.usage.value = last.usage.peek();
    before.durationSec.value = last.durationSec.peek();
    before.stopReason.value = last.stopReason.peek();
    this.segments.pop();
    return [last];
  }

  private get last(): Part | undefined {
    return this.answer.parts.peek().at(-1);
  }

  private add(part: Part): void {
    this.endPart();
    this.answer.parts.value = [...this.answer.parts.peek(), part];
  }

  private endPart(): void {
    this.stream.flush();
    if (this.thinking) {
      this.thinking.part.seconds.value = (performance.now() - this.thinking.since) / 1000;
      this.thinking = undefined;
    }
  }

  private say(text: string): void {
    const last = this.last;
    if (last?.kind === 'text') {
      this.stream.append(last.text, text);
    } else if (withoutGap(text)) {
      this.add(textPart(withoutGap(text)));
    }
  }

  private think(text: string): void {
    const last = this.last;
    if (last?.kind === 'reasoning') {
      this.stream.append(last.text, text);
    } else if (withoutGap(text)) {
      const part = reasoningPart(withoutGap(text));
      this.add(part);
      this.thinking = { part, since: performance.now() };
    }
  }

  private note(text: string): void {
    this.add({ kind: 'notice', key: newKey('notice'), text });
  }

  private call(event: ToolCallEvent | ApprovalRequestEvent): ToolPart {
    const part: ToolPart = {
      kind: 'tool',
      key: newKey('tool'),
      callId: event.call_id,
      name: event.tool_name,
      arguments: event.arguments,
      risk: event.risk,
      startedAt: performance.now(),
      state: signal<ToolState>({ status: 'running', result: '', truncated: false })
    };
    this.add(part);
    return part;
  }

  private ask(event: ApprovalRequestEvent): void {
    if (!this.find(event.call_id)) {
      this.call(event);
    }
    this.change(event.call_id, state => ({
      ...state,
      status: 'asking',
      approval: { preview: event.preview, expiresAt: event.expires_at }
    }));
  }

  private find(callId: string): ToolPart | undefined {
    return this.segments
      .flatMap(message => message.parts.peek())
      .filter((part): part is ToolPart => part.kind === 'tool' && part.callId === callId)
      .at(-1);
  }

  private change(callId: string, next: (state: ToolState) => ToolState): void {
    this.stream.flush();
    const part = this.find(callId);
    if (part) {
      part.state.value = next(part.state.peek());
    }
  }
}
