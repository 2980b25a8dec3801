/**
 * The list of messages and the one rule for its order: what is stored comes by cursor, an answer follows the message
 * it answers, and what the person sent and the server did not begin yet stands at the end.
 */
import { signal, type ReadonlySignal } from '@preact/signals';
import { assistantOf, settle, takeOutcome, unansweredOf, userOf, type Bubble } from './history';
import { assistantMessage } from './messages';
import type { AssistantMessage, ChatMessage, UserMessage } from './types';

const isOutgoing = (message: ChatMessage): boolean =>
  message.role === 'user' && message.cursor === undefined && message.state.peek() !== 'sent';

export class Conversation {
  private readonly list = signal<ChatMessage[]>([]);
  /** Messages of the history that a replayed turn will bring in again, by cursor. */
  private aside: UserMessage[] = [];

  get messages(): ReadonlySignal<ChatMessage[]> {
    return this.list;
  }

  /** The `before` of the page that precedes what is here. */
  get firstCursor(): number | undefined {
    return this.list.peek().find(message => message.cursor !== undefined)?.cursor;
  }

  clear(): void {
    this.aside = [];
    this.list.value = [];
  }

  /** Something new that the person sent. */
  push(message: UserMessage): void {
    this.list.value = [...this.list.peek(), message];
  }

  moveToEnd(message: UserMessage): void {
    this.list.value = [...this.list.peek().filter(other => other !== message), message];
  }

  byCursor(cursor: number): UserMessage | undefined {
    return this.list
      .peek()
      .find((message): message is UserMessage => message.role === 'user' && message.cursor === cursor);
  }

  /**
   * A turn begins to answer the message at `cursor`, which is `own` when the panel sent it. What the history already
   * has of the turn is dropped, because its events follow; gives the answer, which may be one of what was there.
   */
  beginTurn(turnId: string, cursor: number, own: UserMessage | undefined): AssistantMessage {
    const before = this.list.peek();
    const user = own ?? this.byCursor(cursor) ?? this.fromAside(cursor);
    const known = before.find(
      (message): message is AssistantMessage => message.role === 'assistant' && message.turnId === turnId
    );
    const place = user ? before.indexOf(user) : -1;
    const next = place >= 0 ? before[place + 1] : undefined;
    const unnamed = next?.role === 'assistant' && next.turnId === undefined ? next : undefined;
    const answer = known ?? unnamed ?? assistantMessage({ turnId, running: true });
    const again = before.filter(
      message => message !== answer && message !== user && isOfTurn(message, turnId, cursor)
    );
    this.aside = [...this.aside, ...again.filter((message): message is UserMessage => message.role === 'user')];
    const rest = before.filter(message => message !== answer && message !== user && !again.includes(message));
    renew(answer, turnId);
    if (user) {
      user.cursor = cursor;
      user.steer.value = false; // it begins this turn, whatever it was to join
      user.state.value = 'sent';
    }
    const at = positionFor(rest, cursor);
    this.list.value = [...rest.slice(0, at), ...(user ? [user] : []), answer, ...rest.slice(at)];
    return answer;
  }

  /** Where a turn's message was not known when it began: put it before the answer. */
  insertBefore(answer: AssistantMessage, user: UserMessage): void {
    const others = this.list.peek().filter(message => message !== user);
    const at = others.indexOf(answer);
    if (at >= 0) {
      this.list.value = [...others.slice(0, at), user, ...others.slice(at)];
    }
  }

  /** The person's words joined the turn that fills `current`: they follow it, and the answer goes on behind them. */
  steer(current: AssistantMessage, user: UserMessage): AssistantMessage {
    const answer = assistantMessage({ turnId: current.turnId, running: true });
    const others = this.list.peek().filter(message => message !== user);
    const at = others.indexOf(current) + 1;
    user.state.value = 'sent';
    this.list.value = [...others.slice(0, at), user, answer, ...others.slice(at)];
    return answer;
  }

  /** The stored words of a steer that this panel did not send, when the history already has them. */
  takeSteer(afterCursor: number): UserMessage | undefined {
    const [first] = this.aside.filter(message => (message.cursor ?? 0) > afterCursor).sort(byCursor);
    this.aside = this.aside.filter(message => message !== first);
    return first;
  }

  /** An answer in which nothing was said, because it ended before: it is nothing to look at. */
  drop(message: AssistantMessage): void {
    this.list.value = this.list.peek().filter(other => other !== message);
  }

  prepend(page: Bubble[]): void {
    const first = this.firstCursor ?? Infinity;
    this.list.value = [...shown(page.filter(bubble => bubble.cursor < first)), ...this.list.peek()];
  }

  /**
   * Bring the newest page of the history in. `complete`: it reaches the beginning of the chat. Messages that did not
   * change stay the same objects; gives false when there is a hole before the page, so that what was older is gone.
   */
  merge(page: Bubble[], complete: boolean): boolean {
    const before = this.list.peek();
    const start = page.length > 0 ? page[0].cursor : Infinity;
    const newest = Math.max(0, ...before.map(message => message.cursor ?? 0));
    const joined = complete || before.length === 0 || newest >= start;
    const older =
      joined && !complete ? before.filter(message => message.cursor !== undefined && message.cursor < start) : [];
    const unclaimed = before.filter(message => !older.includes(message));
    const claim = <T extends ChatMessage>(found: (message: ChatMessage) => message is T): T | undefined => {
      const at = unclaimed.findIndex(found);
      return at < 0 ? undefined : (unclaimed.splice(at, 1)[0] as T);
    };
    const result: ChatMessage[] = [...older];
    const answersAfter = (user: ChatMessage | undefined): Set<ChatMessage> =>
      new Set(user ? run(before, before.indexOf(user) + 1) : []);
    let answers = new Set<ChatMessage>();
    let outcome: Bubble['outcome'];
    const endTurn = (): void => {
      const left = claim((message): message is AssistantMessage => answers.has(message));
      if (left && (left.error.peek() ?? left.stopReason.peek() ?? outcome)) {
        left.running.value = false;
        takeOutcome(left, outcome);
        result.push(left);
      } else if (outcome) {
        result.push(unansweredOf(outcome));
      }
      outcome = undefined;
    };
    for (const bubble of page) {
      if (bubble.role === 'user') {
        endTurn();
        const user = claim(isUserOf(bubble, newest)) ?? userOf(bubble);
        user.cursor = bubble.cursor;
        user.at ??= bubble.at;
        user.state.value = 'sent';
        answers = answersAfter(user);
        outcome = bubble.outcome;
        result.push(user);
      } else {
        const known = claim(
          (message): message is AssistantMessage => message.role === 'assistant' && message.cursor === bubble.cursor
        );
        const answer = known ?? claim((message): message is AssistantMessage => answers.has(message));
        const whole = { ...bubble, outcome: bubble.outcome ?? outcome };
        if (answer) {
          settle(answer, whole);
        }
        result.push(answer ?? assistantOf(whole));
        outcome = undefined;
      }
    }
    endTurn();
    this.list.value = [...result, ...unclaimed.filter(isOutgoing)];
    return joined;
  }

  private fromAside(cursor: number): UserMessage | undefined {
    const found = this.aside.find(message => message.cursor === cursor);
    this.aside = this.aside.filter(message => message !== found);
    return found;
  }
}

/** The messages of a page, with an answer for each turn that ended without one. */
function shown(page: Bubble[]): ChatMessage[] {
  return page.flatMap((bubble, index): ChatMessage[] => {
    if (bubble.role === 'assistant') {
      return [assistantOf({ ...bubble, outcome: bubble.outcome ?? page[index - 1]?.outcome })];
    }
    const unanswered = page[index + 1]?.role !== 'assistant' && bubble.outcome !== undefined;
    return unanswered ? [userOf(bubble), unansweredOf(bubble.outcome ?? {})] : [userOf(bubble)];
  });
}

const byCursor = (left: UserMessage, right: UserMessage): number => (left.cursor ?? 0) - (right.cursor ?? 0);

/** Whether a replay of the turn whose message is at `cursor` brings this message in again. */
function isOfTurn(message: ChatMessage, turnId: string, cursor: number): boolean {
  return (message.cursor ?? 0) > cursor || (message.role === 'assistant' && message.turnId === turnId);
}

/** Before what the server has not begun, and after everything else. */
function positionFor(messages: ChatMessage[], cursor: number): number {
  const at = messages.findIndex(message => isOutgoing(message) || (message.cursor ?? 0) > cursor);
  return at < 0 ? messages.length : at;
}

/** The answers in a row that begin at `start`. */
function run(messages: ChatMessage[], start: number): ChatMessage[] {
  const end = messages.findIndex((message, index) => index >= start && message.role === 'user');
  return messages.slice(start, end < 0 ? undefined : end);
}

/** The message with this cursor; for one that is news, also the first without a cursor that says the same. */
function isUserOf(bubble: Bubble, newest: number): (message: ChatMessage) => message is UserMessage {
  return (message): message is UserMessage =>
    message.role === 'user' &&
    (message.cursor === bubble.cursor ||
      (bubble.cursor > newest && message.cursor === undefined && message.content === bubble.content));
}

function renew(answer: AssistantMessage, turnId: string): void {
  answer.turnId = turnId;
  answer.cursor = undefined;
  answer.parts.value = [];
  answer.running.value = true;
  answer.stopReason.value = answer.error.value = answer.usage.value = answer.durationSec.value = undefined;
}
