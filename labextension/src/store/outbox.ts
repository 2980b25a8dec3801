/**
 * What the person sent and the server did not answer yet. A message goes out once; whether it arrived is learned from
 * the events, and when that cannot be known any more it is `unsent` and waits for the person.
 */
import { computed, signal, type ReadonlySignal } from '@preact/signals';
import type { Action } from '../protocol';
import { contextRows, metadata } from './attachments';
import { userMessage } from './messages';
import type { Attachments, ModelChoice, UserMessage } from './types';

export interface Letter {
  message: UserMessage;
  attachments: Partial<Attachments>;
  model: ModelChoice | undefined;
  ref: string;
}

export class Outbox {
  private readonly letters = signal<readonly Letter[]>([]);
  private doubtful: UserMessage[] = [];
  /** Something is on its way or waits for its turn. */
  readonly busy: ReadonlySignal<boolean> = computed(() =>
    this.letters.value.some(({ message }) => message.state.value === 'sending' || message.state.value === 'queued')
  );

  /** A letter with a new message; `steer` when it joins a running turn. */
  write(
    content: string,
    attachments: Partial<Attachments>,
    model: ModelChoice | undefined,
    steer: boolean
  ): Letter {
    const message = userMessage(
      {
        content,
        at: new Date().toISOString(),
        context: contextRows(attachments),
        skills: attachments.skills ?? [],
        connectors: attachments.connectors ?? [],
        steer
      },
      'sending'
    );
    return { message, attachments, model, ref: newRef() };
  }

  /** The words of an unsent message once more. */
  again(key: string): Letter | undefined {
    const letter = this.letters
      .peek()
      .find(({ message }) => message.key === key && message.state.peek() === 'unsent');
    return letter && { ...letter, ref: newRef() };
  }

  /** It was handed to the transport. The refs of earlier tries are kept: the server may have got those after all. */
  keep(letter: Letter): void {
    letter.message.state.value = 'sending';
    this.letters.value = [...this.letters.peek(), letter];
  }

  byRef(ref: string | undefined): UserMessage | undefined {
    return ref === undefined ? undefined : this.letters.peek().find(letter => letter.ref === ref)?.message;
  }

  /** Pictures are large: what arrived needs them no more. */
  forgetSent(): void {
    this.letters.value = this.letters
      .peek()
      .map(letter => (letter.message.state.peek() === 'sent' ? { ...letter, attachments: {} } : letter));
  }

  /** The first message that waits for an answer of the server. */
  firstSending(steer: boolean): UserMessage | undefined {
    return this.letters
      .peek()
      .map(({ message }) => message)
      .find(message => message.state.peek() === 'sending' && message.steer.peek() === steer);
  }

  /** A steer with these words whose place in the history is not known. */
  steerOf(content: string): UserMessage | undefined {
    return this.letters
      .peek()
      .map(({ message }) => message)
      .find(message => message.steer.peek() && message.cursor === undefined && message.content === content);
  }

  /** The connection broke: whether these arrived must be told by the next one. */
  doubt(): void {
    this.doubtful = this.letters.peek().map(({ message }) => message);
  }

  /** The next connection told all it knows, and not that these arrived. */
  giveUp(): void {
    for (const message of this.doubtful) {
      if (message.state.peek() === 'sending') {
        message.state.value = 'unsent';
      }
    }
    this.doubtful = [];
  }

  clear(): void {
    this.letters.value = [];
    this.doubtful = [];
  }
}

/** A steer has only words. */
export function actionOf(chatId: string, { message, attachments, model, ref }: Letter): Action {
  return message.steer.peek()
    ? { type: 'steer', chat_id: chatId, content: message.content }
    : { type: 'message', chat_id: chatId, content: message.content, metadata: metadata(ref, attachments, model) };
}

function newRef(): string {
  return `panel-${randomText()}`;
}

/** Letters and digits; unique enough for chats and messages. Not a secret. */
export function randomText(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(10));
  return [...bytes].map(byte => byte.toString(16).padStart(2, '0')).join('');
}
