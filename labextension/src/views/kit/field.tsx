/** One labelled line of text with its rule or error below it, tied together for screen readers. */
import type { ComponentChildren, Ref, VNode } from 'preact';
import { useUnique } from './id';

export interface FieldProps {
  label: string;
  value: string;
  onInput(value: string): void;
  onChange?(): void;
  placeholder?: string;
  /** What is wrong; shown instead of `hint`. */
  error?: string;
  hint?: string;
  /** Shown as dots. Not type="password": that has no role, and browsers would offer to keep the value. */
  secret?: boolean;
  inputRef?: Ref<HTMLInputElement>;
  /** Beside the input. */
  children?: ComponentChildren;
}

export function Field(props: FieldProps): VNode {
  const id = useUnique();
  const below = props.error || props.hint;
  return (
    <div class="cc-field">
      <label for={id}>{props.label}</label>
      <div class="cc-field-line">
        <input
          id={id}
          type="text"
          class={props.secret ? 'cc-input cc-secret' : 'cc-input'}
          value={props.value}
          placeholder={props.placeholder}
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          aria-invalid={props.error ? true : undefined}
          aria-describedby={below ? `${id}-below` : undefined}
          onInput={event => props.onInput(event.currentTarget.value)}
          onChange={() => props.onChange?.()}
          ref={props.inputRef}
        />
        {props.children}
      </div>
      <p id={`${id}-below`} class={props.error ? 'cc-field-error' : 'cc-field-hint'} aria-live="polite">
        {below}
      </p>
    </div>
  );
}
