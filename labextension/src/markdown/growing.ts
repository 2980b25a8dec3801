/** A text that grows: its settled blocks are cut once, only the open end is cut again. */
import { BEGINNING, cut } from './blocks';
import type { Block, Resume } from './blocks';
import { define } from './definitions';
import type { Definitions } from './definitions';

export interface Shown {
  blocks: readonly Block[];
  /** How many of the blocks are settled. */
  settled: number;
  definitions: Definitions;
}

export class GrowingText {
  private settled: Block[] = [];
  private resume: Resume = BEGINNING;
  private seen = '';
  private definitions = new Map<string, string>();

  /** The blocks of `text`; when it does not begin with the text before, everything is cut anew. */
  show(text: string, finished: boolean): Shown {
    const source = text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text;
    if (!source.startsWith(this.seen)) {
      [this.settled, this.resume, this.seen] = [[], BEGINNING, ''];
      this.definitions = new Map();
    }
    const { settled, open, resume } = cut(source, this.resume);
    for (const block of settled) define(block, this.definitions);
    if (settled.length > 0) this.settled = [...this.settled, ...settled];
    this.resume = resume;
    this.seen = source.slice(0, resume.offset);
    const definitions = new Map(this.definitions);
    if (finished) for (const block of open) define(block, definitions);
    const blocks = open.length > 0 ? [...this.settled, ...open] : this.settled;
    return { blocks, settled: finished ? blocks.length : this.settled.length, definitions };
  }
}
