/** Typing as a person does it, by the events that the views listen to. */
import { fireEvent, type BoundFunctions, type queries } from '@testing-library/preact';

/** What `within` gives. */
export type Within = BoundFunctions<typeof queries>;

export function type(box: HTMLElement, text: string): void {
  const field = box as HTMLTextAreaElement;
  field.focus();
  fireEvent.input(field, { target: { value: text } });
}

/** True when the view used the key. */
export function press(target: Element, key: string, more: KeyboardEventInit & { keyCode?: number } = {}): boolean {
  return !fireEvent.keyDown(target, { key, cancelable: true, ...more });
}
