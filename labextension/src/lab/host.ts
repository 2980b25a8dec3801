/** JupyterLab (or Notebook 7) as the panel's surroundings. */
import type { ILatexTypesetter } from '@jupyterlab/rendermime';
import type { Host, HostKind, NotebookHost } from '../host';
import { iconSource } from './icons';
import type { LabOptions } from './options';

/** What all panels of one page share. */
export interface Surroundings {
  language: string;
  options: LabOptions;
  notebook?: NotebookHost;
  typesetter?: ILatexTypesetter;
  /** Absent where the main area holds one document only (Notebook 7). */
  openInMain?: (chatId: string) => void;
}

export function labHost(kind: HostKind, around: Surroundings, onAttach?: Host['onAttach']): Host {
  const { language, notebook, options, typesetter } = around;
  return {
    kind,
    language,
    notebook,
    icon: iconSource,
    typeset: typesetter && (node => void typesetter.typeset(node)),
    onAttach,
    // A tab has no use for a button that opens a tab.
    openInMain: kind === 'main' ? undefined : around.openInMain,
    options: () => options.forPanel(),
    onOptions: hear => options.hear(hear)
  };
}
