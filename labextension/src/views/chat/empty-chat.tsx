/** A chat without messages: what it is for, in the form of things to ask. */
import type { VNode } from 'preact';
import { t } from '../../i18n';
import { Button } from '../kit/button';

export function EmptyChat({ onSuggest }: { onSuggest?: (text: string) => void }): VNode {
  const suggestions = [
    t('What is in this folder, and where should I start?'),
    t('Load the CSV file here and show me what is odd about it'),
    t('Explain the last error in my notebook')
  ];
  return (
    <div class="cc-chat-empty">
      <p class="cc-chat-empty-words">{t('Ask about your data, files and notebooks, or have something done.')}</p>
      {onSuggest && (
        <ul class="cc-chat-suggestions">
          {suggestions.map(text => (
            <li key={text}>
              <Button onClick={() => onSuggest(text)}>{text}</Button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
