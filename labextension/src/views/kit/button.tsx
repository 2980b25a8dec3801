/** The two buttons that everything uses: one with words, one with an icon whose words are its tooltip and name. */
import type { ComponentChildren, Ref, VNode } from 'preact';
import type { IconName } from '../../host';
import { Icon } from '../icon';

export interface ButtonProps {
  onClick(event: MouseEvent): void;
  children: ComponentChildren;
  /** `primary`: the one main action in view. `danger`: it destroys or denies. */
  look?: 'plain' | 'primary' | 'danger' | 'link';
  icon?: IconName;
  disabled?: boolean;
  /** Something goes on because of the last press. */
  busy?: boolean;
  /** The name for screen readers where the visible words need their context. */
  name?: string;
  describedBy?: string;
  expanded?: boolean;
  hasPopup?: 'menu' | 'listbox' | 'dialog';
  buttonRef?: Ref<HTMLButtonElement>;
}

export function Button(props: ButtonProps): VNode {
  const { look = 'plain', icon, busy = false, disabled = false } = props;
  return (
    <button
      type="button"
      class={`cc-button cc-button-${look}`}
      disabled={disabled}
      aria-busy={busy || undefined}
      aria-label={props.name}
      aria-describedby={props.describedBy}
      aria-expanded={props.expanded}
      aria-haspopup={props.hasPopup}
      onClick={event => props.onClick(event)}
      ref={props.buttonRef}
    >
      {icon && <Icon name={icon} />}
      <span class="cc-button-words">{props.children}</span>
    </button>
  );
}

export interface IconButtonProps {
  /** Tooltip and accessible name. */
  name: string;
  icon: IconName;
  onClick(event: MouseEvent): void;
  pressed?: boolean;
  disabled?: boolean;
  look?: 'plain' | 'primary';
  /** Added to the tooltip only, e.g. a keyboard shortcut. */
  hint?: string;
  expanded?: boolean;
  hasPopup?: 'menu' | 'listbox' | 'dialog';
  buttonRef?: Ref<HTMLButtonElement>;
}

export function IconButton(props: IconButtonProps): VNode {
  const { name, icon, look = 'plain', hint } = props;
  return (
    <button
      type="button"
      class={`cc-icon-button cc-icon-button-${look}`}
      aria-label={name}
      title={hint ? `${name} (${hint})` : name}
      aria-pressed={props.pressed}
      aria-expanded={props.expanded}
      aria-haspopup={props.hasPopup}
      disabled={props.disabled}
      onClick={event => props.onClick(event)}
      ref={props.buttonRef}
    >
      <Icon name={icon} />
    </button>
  );
}
