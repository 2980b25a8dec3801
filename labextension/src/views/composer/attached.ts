/** What is attached to the message being written. One rule: what does not fit is refused with a sentence. */
import { signal, type Signal } from '@preact/signals';
import { t } from '../../i18n';
import type { Attachments, ConnectorRow, SkillRow } from '../../store/types';

/** The protocol's limits; of its 32 things a message, 8 may be pictures. */
export const MOST_SELECTIONS = 8;
const MOST_CONTEXT = 24;
const MOST_PICTURES = 8;
const LONGEST_CONTEXT = 100_000;
const LONGEST_LABEL = 200;
/** A frame may have 1 MiB; what surrounds the attachments needs little of it. */
const FRAME = 1024 * 1024 - 4096;

type Context = Attachments['context'][number];
type Picture = Attachments['images'][number];

export class Attached {
  readonly skills: Signal<SkillRow[]> = signal([]);
  readonly connectors: Signal<ConnectorRow[]> = signal([]);
  readonly context: Signal<Context[]> = signal([]);
  readonly images: Signal<Picture[]> = signal([]);

  /** All of these give the sentence of the refusal, or undefined when it was taken. */
  addSkill(row: SkillRow): string | undefined {
    if (this.skills.value.some(have => have.name === row.name)) {
      return undefined;
    }
    if (this.isFull()) {
      return fullSentence();
    }
    this.skills.value = [...this.skills.value, row];
    return undefined;
  }

  addConnector(row: ConnectorRow): string | undefined {
    if (this.connectors.value.some(have => have.server === row.server)) {
      return undefined;
    }
    if (this.isFull()) {
      return fullSentence();
    }
    this.connectors.value = [...this.connectors.value, row];
    return undefined;
  }

  addContext(row: Context): string | undefined {
    if (!row.text) {
      return t('{label} is empty, so there is nothing to attach.', { label: row.label });
    }
    const others = this.context.value.filter(have => have.kind !== row.kind || have.label !== row.label);
    if (others.length >= MOST_CONTEXT) {
      return t('At most {count} things of the notebook can be attached to one message.', { count: MOST_CONTEXT });
    }
    if (row.text.length > LONGEST_CONTEXT) {
      return t('{label} is too long to attach: {size} of at most {limit} characters.', {
        label: row.label,
        size: row.text.length,
        limit: LONGEST_CONTEXT
      });
    }
    // The same thing attached again is newer.
    this.context.value = [...others, { ...row, label: row.label.slice(0, LONGEST_LABEL) }];
    return undefined;
  }

  addImage(row: Picture): string | undefined {
    if (this.images.value.length >= MOST_PICTURES) {
      return t('At most {count} pictures go with one message.', { count: MOST_PICTURES });
    }
    const images = [...this.images.value, row];
    if (bytesOf({ images, context: this.context.value }) > FRAME) {
      return t('This picture makes the message too large. Send it by itself, or a smaller one.');
    }
    this.images.value = images;
    return undefined;
  }

  /** Why the message cannot go out like this, or undefined. */
  tooLarge(content: string): string | undefined {
    const size = bytesOf({ content, ...this.snapshot() });
    return size > FRAME
      ? t('This message is too large ({size} KB of at most {limit} KB). Remove something that is attached.', {
          size: Math.ceil(size / 1024),
          limit: 1024
        })
      : undefined;
  }

  snapshot(): Attachments {
    return {
      skills: this.skills.value,
      connectors: this.connectors.value,
      context: this.context.value,
      images: this.images.value
    };
  }

  get count(): number {
    const { skills, connectors, context, images } = this;
    return skills.value.length + connectors.value.length + context.value.length + images.value.length;
  }

  clear(): void {
    this.skills.value = [];
    this.connectors.value = [];
    this.context.value = [];
    this.images.value = [];
  }

  private isFull(): boolean {
    return this.skills.value.length + this.connectors.value.length >= MOST_SELECTIONS;
  }
}

const bytesOf = (value: unknown): number => new TextEncoder().encode(JSON.stringify(value)).length;

const fullSentence = (): string =>
  t('At most {count} skills and MCP servers go with one message. Remove one first.', { count: MOST_SELECTIONS });
