/**
 * A panel as a Lumino widget. It connects when it is seen for the first time: a page whose sidebar stays closed
 * opens no socket.
 */
import type { Message } from '@lumino/messaging';
import { Widget } from '@lumino/widgets';
import type { Host, HostKind } from '../host';
import { t } from '../i18n';
import { mountPanel, type MountedPanel, type PanelOptions } from '../panel';
import type { Store } from '../store/types';
import type { Transport } from '../transport';
import { Attachments } from './attachments';
import { labHost, type Surroundings } from './host';

export class PanelWidget extends Widget {
  readonly attachments = new Attachments();
  private readonly host: Host;
  private mounted: MountedPanel | undefined;
  private onMount: ((store: Store) => () => void) | undefined;
  private unfollow: (() => void) | undefined;

  constructor(
    kind: HostKind,
    around: Surroundings,
    private readonly connect: () => Transport,
    private readonly start: PanelOptions = {}
  ) {
    super();
    this.host = labHost(kind, around, this.attachments.hear);
    this.addClass('cc-lab');
    this.node.tabIndex = -1;
    if (kind === 'sidebar') {
      // A side area opens as wide as its widget needs at least.
      this.node.style.minWidth = '300px';
    }
  }

  /** The panel's store; makes the panel when it was never seen. */
  get store(): Store {
    return this.mount().store;
  }

  /** Undefined until the panel was seen. */
  get seenStore(): Store | undefined {
    return this.mounted?.store;
  }

  get chatId(): string | undefined {
    return this.mounted?.store.chat.id.value ?? this.start.chatId;
  }

  /** Call `follow` with the store once there is one; what it returns ends it. */
  whenMounted(follow: (store: Store) => () => void): void {
    this.onMount = follow;
  }

  focusComposer(): void {
    this.store.view.value = 'chat';
    // The view has changed with the next frame.
    requestAnimationFrame(() => (this.composer() ?? this.node).focus());
  }

  override dispose(): void {
    this.unfollow?.();
    this.mounted?.dispose();
    this.mounted = undefined;
    super.dispose();
  }

  protected override onAfterAttach(message: Message): void {
    super.onAfterAttach(message);
    this.mountWhenSeen();
  }

  protected override onAfterShow(message: Message): void {
    super.onAfterShow(message);
    this.mountWhenSeen();
  }

  protected override onActivateRequest(message: Message): void {
    super.onActivateRequest(message);
    this.mount();
    if (!this.node.contains(document.activeElement)) {
      (this.composer() ?? this.node).focus();
    }
  }

  private mountWhenSeen(): void {
    if (this.isVisible) {
      this.mount();
    }
  }

  private mount(): MountedPanel {
    if (!this.mounted) {
      // The panel has a node of its own: Lumino's classes and styles stay on the widget's.
      const node = this.node.appendChild(document.createElement('div'));
      this.mounted = mountPanel(node, this.connect(), this.host, this.start);
      this.unfollow = this.onMount?.(this.mounted.store);
    }
    return this.mounted;
  }

  private composer(): HTMLElement | undefined {
    const name = t('Message CashCode');
    return [...this.node.querySelectorAll<HTMLElement>('[aria-label]')].find(
      found => found.getAttribute('aria-label') === name
    );
  }
}
