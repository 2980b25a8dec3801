/** The native list of choices, dressed as JupyterLab's: best for keyboards, screen readers and touch. */
import type { ComponentChildren, Ref, VNode } from 'preact';
import { Icon } from '../icon';

export interface ChoiceProps {
  /** The accessible name; or `labelId` of a visible label. */
  name?: string;
  labelId?: string;
  value: string;
  onChange(value: string): void;
  disabled?: boolean;
  title?: string;
  children: ComponentChildren;
  selectRef?: Ref<HTMLSelectElement>;
}

export function Choice(props: ChoiceProps): VNode {
  return (
    <span class="cc-choice">
      <select
        aria-label={props.name}
        aria-labelledby={props.labelId}
        title={props.title}
        value={props.value}
        disabled={props.disabled}
        onChange={event => props.onChange(event.currentTarget.value)}
        ref={props.selectRef}
      >
        {props.children}
      </select>
      <Icon name="caret-down" />
    </span>
  );
}
