/** The plugin: puts the panel, its commands and the bridge for cell outputs into JupyterLab or Notebook 7. */
import {
  ILabShell,
  ILayoutRestorer,
  type JupyterFrontEnd,
  type JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';
import { ILauncher } from '@jupyterlab/launcher';
import { INotebookTracker } from '@jupyterlab/notebook';
import { ILatexTypesetter } from '@jupyterlab/rendermime';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';
import { setLanguage } from '../i18n';
import { publishBridge } from '../transports/bridge';
import { addCommands, COMMAND } from './commands';
import { connect } from './connection';
import { labHost, type Surroundings } from './host';
import { LabNotebook } from './notebook';
import { LabOptions } from './options';
import { Panels, SIDEBAR_ID } from './panels';

const PLUGIN_ID = 'cashcode-jupyter:plugin';

export const plugin: JupyterFrontEndPlugin<void> = {
  id: PLUGIN_ID,
  description: 'Chat with a personal AI agent that lives in your own Jupyter',
  autoStart: true,
  optional: [
    ILabShell,
    ILayoutRestorer,
    ICommandPalette,
    ILauncher,
    INotebookTracker,
    ILatexTypesetter,
    ISettingRegistry,
    ITranslator
  ],
  activate
};

function activate(
  app: JupyterFrontEnd,
  labShell: ILabShell | null,
  restorer: ILayoutRestorer | null,
  palette: ICommandPalette | null,
  launcher: ILauncher | null,
  tracker: INotebookTracker | null,
  typesetter: ILatexTypesetter | null,
  registry: ISettingRegistry | null,
  translator: ITranslator | null
): void {
  const language = translator?.languageCode ?? 'en';
  setLanguage(language);

  const notebook = tracker ? new LabNotebook(tracker) : undefined;
  const around: Surroundings = {
    language,
    options: new LabOptions(),
    notebook,
    typesetter: typesetter ?? undefined,
    openInMain: labShell ? chatId => void panels.openTab(chatId) : undefined
  };
  const pipe = () => connect(app.serviceManager.serverSettings);
  const panels = new Panels(app.shell, around, pipe);
  publishBridge({ version: 1, connect: pipe, host: labHost('cell', around) });

  addCommands(app.commands, panels, notebook, labShell !== null);
  for (const command of Object.values(COMMAND)) {
    palette?.addItem({ command, category: 'CashCode', args: { isPalette: true } });
  }
  // JupyterLab's own word for the category, so that no second one of the same meaning appears.
  const category = (translator ?? nullTranslator).load('jupyterlab').__('Other');
  launcher?.add({ command: COMMAND.openTab, category, rank: 1, args: { isLauncher: true } });

  restorer?.add(panels.sidebar, SIDEBAR_ID);
  if (labShell) {
    void restorer?.restore(panels.tabs, {
      command: COMMAND.openTab,
      args: tab => ({ chatId: tab.content.chatId ?? '' }),
      name: tab => tab.content.chatId ?? tab.id
    });
  }
  registry
    ?.load(PLUGIN_ID)
    .then(settings => around.options.follow(settings))
    .catch((error: unknown) =>
      console.error('CashCode: its settings could not be read; the defaults hold.', error)
    );
}
