/** What a panel may ask of the place it stands in. All of it is optional: a panel in a plain output has none. */

export type HostKind = 'sidebar' | 'main' | 'cell';

/** Something of the notebook that can be attached to a message. */
export interface ContextChoice {
  kind: 'cell' | 'cells' | 'selection' | 'outline' | 'variable' | 'file';
  /** E.g. "cell 12" or "df". At most 200 characters. */
  label: string;
  /** A dim second part, e.g. "8,412×14". */
  detail?: string;
  /** The text that the model gets, read when the choice is taken; at most 100,000 characters. */
  load(): Promise<string>;
}

export interface NotebookHost {
  /** False when no notebook is open; code actions are hidden then. */
  available(): boolean;
  /** A new code cell with `source` below the active one. */
  insertBelow(source: string): Promise<void>;
  /** Replace the source of the active cell; can be undone in the notebook. */
  replaceCell(source: string): Promise<void>;
  context(): Promise<ContextChoice[]>;
}

export interface Host {
  readonly kind: HostKind;
  /** BCP 47 or POSIX language of the surroundings, e.g. "zh_CN". */
  readonly language: string;
  readonly notebook?: NotebookHost;
  /** Show mathematics inside `node` as the surroundings do; `$…$` and `$$…$$` stand in it as text. */
  typeset?(node: HTMLElement): void;
  /** SVG source of one of JupyterLab's icons, undefined when the host has none of this name. */
  icon?(name: IconName): string | undefined;
  /** The person asked in the notebook ("Ask CashCode about this cell"): the composer attaches it and takes the focus. */
  onAttach?(hear: (choice: ContextChoice) => void): () => void;
  /** Show this chat as a tab of the main area. */
  openInMain?(chatId: string): void;
  /** Something the person may have configured in the host; changes arrive by `onOptions`. */
  options?(): HostOptions;
  onOptions?(hear: (options: HostOptions) => void): () => void;
}

export interface HostOptions {
  /** Enter sends and Shift+Enter breaks the line; false: Ctrl/Cmd+Enter sends. */
  sendWithEnter?: boolean;
}

export type IconName =
  | 'add'
  | 'arrow-down'
  | 'attach'
  | 'back'
  | 'caret-down'
  | 'caret-right'
  | 'check'
  | 'close'
  | 'copy'
  | 'delete'
  | 'edit'
  | 'error'
  | 'history'
  | 'image'
  | 'insert-below'
  | 'menu'
  | 'open-tab'
  | 'refresh'
  | 'replace'
  | 'search'
  | 'send'
  | 'settings'
  | 'stop'
  | 'tool'
  | 'undo'
  | 'warning'
  | 'cell'
  | 'variable'
  | 'skill'
  | 'mcp';
