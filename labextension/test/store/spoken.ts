/** What a reader sees of a chat, without keys, times and notices. */
import type { ChatMessage } from '../../src/store/types';

export function spoken(messages: ChatMessage[]): string[] {
  return messages.map(message => {
    if (message.role === 'user') {
      return `You(${message.state.value}): ${message.content}`;
    }
    const parts = message.parts.value.flatMap(part => {
      switch (part.kind) {
        case 'notice':
          return [];
        case 'tool':
          return [`[${part.name} ${part.state.value.status} ${part.state.value.result}]`];
        case 'reasoning':
          return [`<${part.text.value}>`];
        default:
          return [part.text.value];
      }
    });
    const end = message.running.value ? '…' : (message.error.value?.code ?? message.stopReason.value ?? '');
    return `CashCode(${end}): ${parts.join(' ')}`;
  });
}
