import { describe, expect, it } from 'vitest';
import type { ContextChoice } from '../../src/host';
import { Attachments } from '../../src/lab/attachments';

const cell = (number: number): ContextChoice => ({
  kind: 'cell',
  label: `cell ${number}`,
  load: () => Promise.resolve('')
});

describe('attachments', () => {
  it('wait for the composer and come to it in order, once', () => {
    const attachments = new Attachments();
    attachments.offer(cell(1));
    attachments.offer(cell(2));
    const heard: string[] = [];
    const leave = attachments.hear(choice => heard.push(choice.label));
    attachments.offer(cell(3));
    expect(heard).toEqual(['cell 1', 'cell 2', 'cell 3']);

    leave();
    attachments.offer(cell(4));
    attachments.hear(choice => heard.push(choice.label));
    expect(heard).toEqual(['cell 1', 'cell 2', 'cell 3', 'cell 4']);
  });

  it('go on to a composer that came before the old one left', () => {
    const attachments = new Attachments();
    const heard: string[] = [];
    const leaveOld = attachments.hear(() => heard.push('old'));
    attachments.hear(() => heard.push('new'));
    leaveOld();
    attachments.offer(cell(1));
    expect(heard).toEqual(['new']);
  });
});
