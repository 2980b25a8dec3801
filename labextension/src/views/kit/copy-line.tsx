/** A command to run elsewhere, with a button that copies it. */
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { t } from '../../i18n';
import { IconButton } from './button';

export function CopyLine({ text }: { text: string }): VNode {
  const [said, setSaid] = useState('');
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      setSaid(t('Copied'));
    } catch {
      setSaid(t('Select it and copy it by hand.')); // no clipboard without https or permission
    }
  };
  return (
    <div class="cc-copy-line">
      <code>{text}</code>
      <IconButton name={t('Copy command')} icon="copy" onClick={() => void copy()} />
      <span class="cc-dim" role="status">
        {said}
      </span>
    </div>
  );
}
