/** A sent message under revision, in its own place. Saving makes a new chat; this one stays as it is. */
import type { VNode } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { t } from '../../i18n';
import { Button } from '../kit/button';

interface EditMessageProps {
  content: string;
  onSave: (content: string) => void;
  onCancel: () => void;
}

export function EditMessage({ content, onSave, onCancel }: EditMessageProps): VNode {
  const [text, setText] = useState(content);
  const field = useRef<HTMLTextAreaElement>(null);
  useLayoutEffect(() => {
    field.current?.focus({ preventScroll: true });
    field.current?.setSelectionRange(content.length, content.length);
  }, []);
  const save = (): void => {
    if (text.trim() !== '') onSave(text);
  };
  const keys = (event: KeyboardEvent): void => {
    if (event.key === 'Escape') onCancel();
    else if (event.key === 'Enter' && (event.ctrlKey || event.metaKey) && !event.isComposing) save();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div class="cc-edit">
      <textarea
        ref={field}
        class="cc-edit-field"
        aria-label={t('Edit message')}
        dir="auto"
        rows={Math.min(12, text.split('\n').length + 1)}
        value={text}
        onInput={event => setText(event.currentTarget.value)}
        onKeyDown={keys}
      />
      <div class="cc-edit-actions">
        <span title={t('Starts a new chat from this message; this chat stays as it is')}>
          <Button look="primary" disabled={text.trim() === ''} onClick={save}>
            {t('Save')}
          </Button>
        </span>
        <Button onClick={onCancel}>{t('Cancel')}</Button>
        <span class="cc-dim">{t('Saving starts a new chat')}</span>
      </div>
    </div>
  );
}
