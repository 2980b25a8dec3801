/**
 * Markdown cut into top-level blocks, so that each is parsed on its own: what is settled is never parsed again while
 * an answer grows, and no block gets long enough to stall the page. The cut reads complete lines from left to right
 * and never looks back, therefore the settled blocks of a text's beginning are the first blocks of the whole text.
 */
export interface MarkdownBlock {
  kind: 'markdown';
  source: string;
}
export interface FenceBlock {
  kind: 'code';
  source: string;
  language: string;
  text: string;
}
export interface MathBlock {
  kind: 'math';
  source: string;
  /** TeX without its delimiters. */
  text: string;
}
export type Block = MarkdownBlock | FenceBlock | MathBlock;

/** Where a cut goes on when the text has grown. */
export interface Resume {
  offset: number;
  /** Header of a table whose rows go on after `offset`, empty when there is none. */
  header: string;
}
export interface Cut {
  /** Blocks that later text cannot change. */
  settled: Block[];
  /** The open end as it looks now. */
  open: Block[];
  resume: Resume;
}
export const BEGINNING: Resume = { offset: 0, header: '' };

/** From this length on a paragraph, list or table continues in a new block at the next fitting line. */
const SOFT = 8_000;
/** From this length on at any line. */
const HARD = 24_000;
/** Mathematics between `$$` lines longer than this is none. */
const MATH = 10_000;

const FENCE = /^( {0,3})(`{3,}|~{3,})(.*)$/;
const INNER_FENCE = /^ *(`{3,}|~{3,})/;
const ITEM = /^( {0,3})([-*+]|\d{1,9}[.)])( {1,4}|$)/;
const RULE = /^ {0,3}([-*_])[ \t]*(?:\1[ \t]*){2,}$/;
const HEADING = /^ {0,3}#{1,6}(?:[ \t]|$)/;
const TABLE_RULE = /^ {0,3}\|?[ \t]*:?-+[-|: \t]*$/;
const MATH_OPEN = /^ {0,3}(\$\$|\\\[)/;
const MATH_END: Readonly<Record<string, string>> = { $$: '$$', '\\[': '\\]' };

/** Cut `source` on from where an earlier cut of its beginning ended. */
export function cut(source: string, from: Resume = BEGINNING): Cut {
  const cutter = new Cutter(source, from);
  cutter.lines();
  const resume = cutter.resume;
  const rest = source.slice(resume.offset);
  const end = new Cutter(`${rest}\n`, { offset: 0, header: resume.header });
  end.lines();
  end.flush();
  return { settled: cutter.blocks, open: end.blocks, resume };
}

class Cutter {
  readonly blocks: Block[] = [];
  private kind: 'none' | 'text' | 'indented' | 'list' | 'fence' | 'math' = 'none';
  private at: number;
  private start: number;
  /** Behind the last line of the open block that is not blank. */
  private end: number;
  private blank = false;
  private count = 0;
  private header: string;
  private inTable: boolean;
  private firstLine = '';
  /** Of the fence or mathematics that is open: what closes it. */
  private close = '';
  private language = '';
  private indent = 0;
  private body = 0;
  private marker = '';
  private innerFence = '';

  constructor(
    private readonly source: string,
    from: Resume
  ) {
    this.at = this.start = this.end = from.offset;
    this.header = from.header;
    this.inTable = from.header !== '';
    if (this.inTable) this.begin('text');
  }

  get resume(): Resume {
    return { offset: this.start, header: this.header };
  }

  lines(): void {
    for (;;) {
      const newline = this.source.indexOf('\n', this.at);
      if (newline < 0) return;
      // A line that is too long for the patterns is text, whatever it begins with.
      const line = this.source.slice(this.at, Math.min(newline, this.at + SOFT));
      this.line(line, newline);
      this.at = newline + 1;
      if (this.kind === 'none') this.start = this.at;
    }
  }

  /** End the open block, whatever could still have come. */
  flush(): void {
    if (this.kind === 'none') return;
    const source = this.source.slice(this.start, this.end);
    if (this.kind === 'fence') this.code(source, this.body, this.end);
    else if (source.trim()) this.blocks.push({ kind: 'markdown', source: this.header + source });
    this.kind = 'none';
    this.header = '';
    this.inTable = false;
  }

  private line(line: string, newline: number): void {
    const isBlank = line.trim() === '';
    if (this.kind === 'fence') return this.fenceLine(line, newline);
    if (this.kind === 'math' && this.mathLine(line, newline, isBlank)) return;
    if (isBlank) {
      if (this.kind === 'text') this.flush();
      this.blank = true;
      return;
    }
    if (this.kind !== 'none' && !this.goesOn(line)) this.flush();
    if (this.kind === 'none') this.first(line, newline);
    else this.take(line, newline);
    this.blank = false;
  }

  private begin(kind: Cutter['kind']): void {
    this.kind = kind;
    this.start = this.at;
    this.count = 0;
    this.blank = false;
    this.innerFence = '';
  }

  private first(line: string, newline: number): void {
    const fence = fenceOf(line);
    if (fence) {
      this.begin('fence');
      [this.close, this.language, this.indent] = [fence.mark, fence.language, fence.indent];
      this.body = this.end = newline + 1;
      return;
    }
    const math = MATH_OPEN.exec(line)?.[1];
    if (math) {
      this.begin('math');
      this.close = MATH_END[math];
      this.body = this.at + line.indexOf(math) + math.length;
      if (this.mathLine(line.slice(line.indexOf(math) + math.length), newline, false)) return;
      this.kind = 'text';
      this.take(line, newline);
      return;
    }
    const item = RULE.test(line) ? null : ITEM.exec(line);
    this.begin(item ? 'list' : /^(?: {4}|\t)/.test(line) ? 'indented' : 'text');
    if (item) this.item(item);
    this.take(line, newline);
    if (HEADING.test(line) || (!item && RULE.test(line))) this.flush();
  }

  private take(line: string, newline: number): void {
    if (this.kind === 'text' && this.count === 1 && TABLE_RULE.test(line) && this.firstLine.includes('|')) {
      this.inTable = true;
      this.header = '';
    }
    if (this.count === 0) this.firstLine = line;
    this.count += 1;
    this.end = newline;
    if (this.kind === 'list') {
      const mark = INNER_FENCE.exec(line.replace(ITEM, ''))?.[1];
      if (!this.innerFence) this.innerFence = mark ?? '';
      else if (mark?.startsWith(this.innerFence) && line.trim() === mark) this.innerFence = '';
    }
  }

  /** Whether the open block has this line as well. */
  private goesOn(line: string): boolean {
    const size = this.at - this.start;
    if (this.inTable && size > SOFT) return this.nextTable();
    if (size > HARD) return false;
    const indent = line.length - line.trimStart().length;
    if (this.kind === 'indented') return this.blank ? indent >= 4 : !starts(line);
    if (this.kind !== 'list') return !starts(line) && size <= SOFT;
    if (indent >= this.indent) return true;
    const item = RULE.test(line) ? null : ITEM.exec(line);
    if (item) {
      if (markerOf(item) !== this.marker || (size > SOFT && item[1] === '')) return false;
      this.item(item);
      return true;
    }
    return !this.blank && !this.innerFence && !starts(line) && !RULE.test(line);
  }

  /** A long table goes on in a table of its own with the same header. */
  private nextTable(): boolean {
    const header = this.header || this.headerOf();
    this.flush();
    this.begin('text');
    this.header = header;
    this.inTable = true;
    return true;
  }

  private headerOf(): string {
    const rule = this.source.indexOf('\n', this.start) + 1;
    return this.source.slice(this.start, this.source.indexOf('\n', rule) + 1);
  }

  private item(item: RegExpExecArray): void {
    this.marker = markerOf(item);
    this.indent = item[0].length + (item[3] ? 0 : 1);
    this.innerFence = '';
  }

  private fenceLine(line: string, newline: number): void {
    const found = FENCE.exec(line);
    if (found?.[2].startsWith(this.close) && found[3].trim() === '') {
      this.code(this.source.slice(this.start, newline), this.body, this.at);
      this.kind = 'none';
      return;
    }
    this.end = newline + 1;
  }

  private code(source: string, from: number, to: number): void {
    let text = this.source.slice(from, Math.max(from, Math.min(to, this.source.length))).replace(/\n$/, '');
    if (this.indent > 0) text = text.replace(new RegExp(`^ {1,${this.indent}}`, 'gm'), '');
    this.blocks.push({ kind: 'code', source, language: this.language, text });
  }

  /** False when what began as mathematics is none. */
  private mathLine(line: string, newline: number, isBlank: boolean): boolean {
    const text = line.trimEnd();
    const tooLong = newline - this.start > MATH;
    if (text.endsWith(this.close) && !tooLong) {
      const tex = this.source.slice(this.body, newline).trimEnd().slice(0, -this.close.length).trim();
      this.blocks.push({ kind: 'math', source: this.source.slice(this.start, newline), text: tex });
      this.kind = 'none';
      return true;
    }
    if (isBlank || tooLong || text.includes(this.close)) {
      this.kind = 'text';
      return false;
    }
    this.end = newline;
    this.count += 1;
    return true;
  }
}

/** Lines that begin a block also in the middle of a paragraph. */
function starts(line: string): boolean {
  return HEADING.test(line) || fenceOf(line) !== undefined || MATH_OPEN.test(line);
}

function fenceOf(line: string): { mark: string; language: string; indent: number } | undefined {
  const found = FENCE.exec(line);
  if (!found || (found[2].startsWith('`') && found[3].includes('`'))) return undefined;
  const [language = ''] = found[3].trim().split(/[\s{,]/, 1);
  return { mark: found[2], language, indent: found[1].length };
}

const markerOf = (item: RegExpExecArray): string => item[2].slice(-1);
