/** A component that renders again only when one of its props is another one (signals it reads still reach it). */
import { Component, h } from 'preact';
import type { FunctionComponent, VNode } from 'preact';

export function memo<P extends object>(inner: FunctionComponent<P>): FunctionComponent<P> {
  class Memo extends Component<P> {
    override shouldComponentUpdate(next: Readonly<P>): boolean {
      const [before, after] = [this.props as Record<string, unknown>, next as Record<string, unknown>];
      const names = new Set([...Object.keys(before), ...Object.keys(after)]);
      return [...names].some(name => before[name] !== after[name]);
    }

    override render(): VNode {
      return h(inner as FunctionComponent<object>, this.props);
    }
  }
  return Memo as unknown as FunctionComponent<P>;
}
