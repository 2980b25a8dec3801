/** A title being changed in place: Enter and leaving keep it, Escape does not; blank means no change. */
import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { t } from '../../i18n';

export interface RenameBoxProps {
  title: string;
  onDone(title: string | undefined): void;
}

export function RenameBox({ title, onDone }: RenameBoxProps): VNode {
  const input = useRef<HTMLInputElement>(null);
  const ended = useRef(false);
  useEffect(() => {
    input.current?.focus();
    input.current?.select();
  }, []);
  const end = (keep: boolean): void => {
    if (ended.current) {
      return; // the box loses its focus while it goes away
    }
    ended.current = true;
    const wanted = input.current?.value.trim() ?? '';
    onDone(keep && wanted && wanted !== title ? wanted : undefined);
  };
  return (
    <input
      type="text"
      class="cc-input cc-rename"
      aria-label={t('Chat title')}
      defaultValue={title}
      maxLength={200}
      ref={input}
      onBlur={() => end(true)}
      onKeyDown={event => {
        if (event.isComposing) {
          return;
        }
        if (event.key === 'Enter' || event.key === 'Escape') {
          event.preventDefault();
          event.stopPropagation();
          end(event.key === 'Enter');
        }
      }}
    />
  );
}
