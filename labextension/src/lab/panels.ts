/** All panels of a page: one in a sidebar, any number of tabs in the main area; and which one a command means. */
import type { ILabShell, JupyterFrontEnd } from '@jupyterlab/application';
import { MainAreaWidget, WidgetTracker } from '@jupyterlab/apputils';
import { FocusTracker, type Widget } from '@lumino/widgets';
import { effect } from '@preact/signals';
import { t } from '../i18n';
import type { Transport } from '../transport';
import type { Surroundings } from './host';
import { cashcodeIcon } from './icons';
import { PanelWidget } from './panel-widget';

export const SIDEBAR_ID = 'cashcode-panel';

/** The side areas of JupyterLab's shell, and of Notebook 7's, which lacks some of them. */
type SideShell = JupyterFrontEnd.IShell & Partial<Pick<ILabShell, 'collapseLeft' | 'collapseRight'>>;
export type Tab = MainAreaWidget<PanelWidget>;

export class Panels {
  readonly sidebar: PanelWidget;
  readonly tabs = new WidgetTracker<Tab>({ namespace: 'cashcode-chat' });
  /** Panels in the order in which they had the focus. */
  private readonly focus = new FocusTracker<PanelWidget>();

  constructor(
    private readonly shell: SideShell,
    private readonly around: Surroundings,
    private readonly connect: () => Transport
  ) {
    this.sidebar = new PanelWidget('sidebar', around, connect);
    this.sidebar.id = SIDEBAR_ID;
    this.sidebar.title.icon = cashcodeIcon;
    this.sidebar.title.caption = 'CashCode';
    this.focus.add(this.sidebar);
    this.placeSidebar();
    around.options.onChange(() => this.placeSidebar());
  }

  /** The panel that the person sees and used last; the sidebar's when none is seen. */
  get current(): PanelWidget {
    const { currentWidget } = this.focus;
    if (currentWidget?.isVisible) {
      return currentWidget;
    }
    return this.tabs.find(tab => tab.isVisible)?.content ?? this.sidebar;
  }

  show(panel: PanelWidget): void {
    this.shell.activateById(this.tabs.find(tab => tab.content === panel)?.id ?? panel.id);
  }

  toggleSidebar(): void {
    if (!this.sidebar.isVisible) {
      this.show(this.sidebar);
    } else if (this.holds('left')) {
      this.shell.collapseLeft?.();
    } else {
      this.shell.collapseRight?.();
    }
  }

  /** A chat has one tab at most; without a chat, a tab with a new one. */
  openTab(chatId?: string): Tab {
    const open = chatId ? this.tabs.find(tab => tab.content.chatId === chatId) : undefined;
    const tab = open ?? this.newTab(chatId);
    this.shell.activateById(tab.id);
    return tab;
  }

  private newTab(chatId?: string): Tab {
    const content = new PanelWidget('main', this.around, this.connect, { chatId });
    const tab: Tab = new MainAreaWidget({ content });
    tab.title.icon = cashcodeIcon;
    tab.title.label = t('New chat');
    tab.title.caption = 'CashCode';
    tab.toolbar.hide();
    content.whenMounted(store => {
      if (!chatId) {
        // Left to itself, a panel goes on with the chat that was open last.
        store.newChat();
      }
      return effect(() => {
        tab.title.label = store.chat.title.value || t('New chat');
        // The layout remembers the chat that the tab shows now.
        if (store.chat.id.value && this.tabs.has(tab)) {
          void this.tabs.save(tab);
        }
      });
    });
    this.focus.add(content);
    this.shell.add(tab, 'main');
    void this.tabs.add(tab);
    return tab;
  }

  /** Where the settings say. Where the person has dragged it, JupyterLab puts it by itself. */
  private placeSidebar(): void {
    const { side } = this.around.options;
    if (!this.holds(side)) {
      this.shell.add(this.sidebar, side, { rank: 900, type: 'CashCode' });
    }
  }

  private holds(side: 'left' | 'right'): boolean {
    return [...widgets(this.shell, side)].includes(this.sidebar);
  }
}

/** Some shells throw for an area that they do not have. */
function widgets(shell: SideShell, side: string): Iterable<Widget> {
  try {
    return shell.widgets(side);
  } catch {
    return [];
  }
}
