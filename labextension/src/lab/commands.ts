/** What JupyterLab's menus, palette, shortcuts and toolbars can do with the panels. */
import type { CommandRegistry } from '@lumino/commands';
import { t } from '../i18n';
import type { LabNotebook } from './notebook';
import { cashcodeIcon } from './icons';
import type { Panels } from './panels';

export const COMMAND = {
  open: 'cashcode:open',
  openTab: 'cashcode:open-tab',
  newChat: 'cashcode:new-chat',
  stop: 'cashcode:stop',
  focusComposer: 'cashcode:focus-composer',
  askAboutCell: 'cashcode:ask-about-cell',
  settings: 'cashcode:settings'
} as const;

/** Adds the commands; `tabs` is false where the main area holds one document only. */
export function addCommands(
  commands: CommandRegistry,
  panels: Panels,
  notebook: LabNotebook | undefined,
  tabs: boolean
): void {
  commands.addCommand(COMMAND.open, {
    label: 'CashCode',
    caption: t('Show or hide the CashCode panel'),
    icon: args => (args.isPalette ? undefined : cashcodeIcon),
    isToggled: () => panels.sidebar.isVisible,
    execute: () => panels.toggleSidebar()
  });
  commands.addCommand(COMMAND.openTab, {
    label: args => (args.isLauncher ? 'CashCode' : t('Open Chat in a Tab')),
    caption: t('Chat with CashCode in the main area'),
    icon: args => (args.isPalette ? undefined : cashcodeIcon),
    isVisible: () => tabs,
    isEnabled: () => tabs,
    execute: args => panels.openTab(typeof args.chatId === 'string' ? args.chatId : undefined)
  });
  commands.addCommand(COMMAND.newChat, {
    label: t('New Chat'),
    execute: () => {
      const panel = panels.current;
      panels.show(panel);
      panel.store.newChat();
      panel.focusComposer();
    }
  });
  commands.addCommand(COMMAND.stop, {
    label: t('Stop the Answer'),
    isEnabled: () => panels.current.seenStore?.chat.running.value === true,
    execute: () => panels.current.seenStore?.chat.stop()
  });
  commands.addCommand(COMMAND.focusComposer, {
    label: t('Ask CashCode…'),
    caption: t('Show the CashCode panel and write a message'),
    execute: () => {
      const panel = panels.current;
      panels.show(panel);
      panel.focusComposer();
    }
  });
  commands.addCommand(COMMAND.askAboutCell, {
    label: t('Ask CashCode About This Cell'),
    caption: t('Attach the active cell to a message to CashCode'),
    icon: args => (args.isPalette ? undefined : cashcodeIcon),
    isEnabled: () => notebook?.available() === true,
    isVisible: () => notebook !== undefined,
    execute: () => {
      const cell = notebook?.activeCell();
      const panel = panels.current;
      panels.show(panel);
      panel.focusComposer();
      if (cell) {
        panel.attachments.offer(cell);
      }
    }
  });
  commands.addCommand(COMMAND.settings, {
    label: t('CashCode Settings'),
    caption: t('Models, approvals and persona of CashCode'),
    execute: () => {
      const panel = panels.current;
      panels.show(panel);
      panel.store.view.value = 'settings';
    }
  });
}
