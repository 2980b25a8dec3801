import { signal } from '@preact/signals';
import { act, cleanup, fireEvent, render, screen, waitFor, within } from '@testing-library/preact';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Host, NotebookHost } from '../../src/host';
import type { ReasoningPart, ToolPart, ToolState } from '../../src/store/types';
import { ChatView } from '../../src/views/chat/chat-view';
import { asking, assistant, fakeChat, text, tool, user } from './fake-chat';
import type { FakeChat } from './fake-chat';

afterEach(() => {
  cleanup();
  vi.useRealTimers();
});

function show(fake: FakeChat, host: Partial<Host> = {}, onSuggest?: (words: string) => void): Element {
  const whole: Host = { kind: 'sidebar', language: 'en', ...host };
  return render(
    <div class="cc-panel">
      <ChatView store={fake.store} host={whole} onSuggest={onSuggest} />
      <textarea aria-label="Message CashCode" />
    </div>
  ).container;
}
const button = (name: string | RegExp): HTMLElement => screen.getByRole('button', { name });
const row = (name: string): HTMLElement => screen.getByRole('group', { name: `Tool call ${name}` });
/** The line of a row that opens it. */
const line = (name: string): HTMLElement => within(row(name)).getAllByRole('button')[0];
/** Enter as a browser takes it: a button is pressed by it unless somebody used the key. */
function enter(target: Element): void {
  if (fireEvent.keyDown(target, { key: 'Enter', cancelable: true }) && target.tagName === 'BUTTON')
    fireEvent.click(target);
}
const pass = (milliseconds: number): void =>
  void act(() => {
    vi.advanceTimersByTime(milliseconds);
  });
const frame = (): Promise<unknown> =>
  act(() => new Promise<void>(done => void requestAnimationFrame(() => done())));

describe('the list of messages', () => {
  it('is a list of articles named by who speaks', () => {
    show(fakeChat([user('Hello'), assistant([text('Hi **there**')])]));
    const list = screen.getByRole('list', { name: 'Messages' });
    for (const row of list.children) expect(row.getAttribute('role')).toBe('listitem');
    expect(within(list).getByRole('article', { name: 'You' }).textContent).toContain('Hello');
    expect(within(list).getByRole('article', { name: 'CashCode' }).querySelector('strong')?.textContent).toBe(
      'there'
    );
  });

  it('shows skeletons while it loads', () => {
    const fake = fakeChat();
    fake.status.value = 'loading';
    show(fake);
    expect(screen.getByText('Loading the chat')).toBeTruthy();
  });

  it('offers suggestions when it is empty', () => {
    const said = vi.fn();
    show(fakeChat(), {}, said);
    fireEvent.click(button('Explain the last error in my notebook'));
    expect(said).toHaveBeenCalledWith('Explain the last error in my notebook');
  });

  it('says why it could not be loaded and tries again', () => {
    const fake = fakeChat();
    fake.status.value = 'failed';
    fake.loadError.value = { code: 'internal', detail: 'The server answered 500.', retryable: true };
    show(fake);
    expect(screen.getByRole('alert').textContent).toContain('The server answered 500.');
    fireEvent.click(button('Retry'));
    expect(fake.calls).toEqual([['reload']]);
  });

  it('paints the newest page of a long chat first and shows more on demand before it asks the server', () => {
    const fake = fakeChat(Array.from({ length: 120 }, (_, index) => user(`message ${index}`)));
    fake.older.value = 'some';
    show(fake);
    expect(screen.getAllByRole('article')).toHaveLength(50);
    expect(screen.getByText('message 119')).toBeTruthy();
    for (let press = 0; press < 4; press += 1) fireEvent.click(button('Show earlier messages'));
    expect(screen.getAllByRole('article')).toHaveLength(120);
    expect(fake.calls).toEqual([]);
    fireEvent.click(button('Show earlier messages'));
    expect(fake.calls).toEqual([['loadOlder']]);
  });

  it('tells that older messages could not be loaded', () => {
    const fake = fakeChat([user('x')]);
    fake.older.value = 'failed';
    show(fake);
    fireEvent.click(button('Retry'));
    expect(fake.calls).toEqual([['loadOlder']]);
  });

  it('follows the stream only while the reader is at the bottom', () => {
    const box = show(fakeChat([user('x')])).querySelector('.cc-scroller')!;
    Object.defineProperties(box, { scrollHeight: { value: 2000 }, clientHeight: { value: 500 } });
    box.scrollTop = 1500;
    fireEvent.scroll(box);
    expect(screen.queryByRole('button', { name: 'Jump to latest' })).toBeNull();
    box.scrollTop = 900;
    fireEvent.scroll(box);
    fireEvent.click(button('Jump to latest'));
    expect(box.scrollTop).toBe(2000);
    expect(screen.queryByRole('button', { name: 'Jump to latest' })).toBeNull();
  });

  it('has a sentence of its own where the failure has none', () => {
    const fake = fakeChat();
    fake.status.value = 'failed';
    show(fake);
    expect(screen.getByRole('alert').textContent).toContain('The chat could not be loaded.');
  });

  it('keeps what it has while it is read again, and when that fails', () => {
    const fake = fakeChat([user('still here')]);
    for (const status of ['loading', 'failed'] as const) {
      fake.status.value = status;
      show(fake);
      expect(screen.getByText('still here')).toBeTruthy();
      expect(screen.queryByText('Loading the chat')).toBeNull();
      expect(screen.queryByRole('alert')).toBeNull();
      cleanup();
    }
  });

  it('says what it is for when it is empty, without buttons where nobody takes suggestions', () => {
    show(fakeChat());
    expect(screen.getByText(/^Ask about your data/)).toBeTruthy();
    expect(screen.queryAllByRole('button')).toEqual([]);
  });

  it('tells that older messages are on their way, instead of a button', () => {
    const fake = fakeChat([user('x')]);
    fake.older.value = 'loading';
    show(fake);
    expect(screen.getByText('Loading earlier messages')).toBeTruthy();
    expect(screen.queryByRole('button', { name: 'Show earlier messages' })).toBeNull();
    void act(() => {
      fake.older.value = 'none';
    });
    expect(screen.queryByText('Loading earlier messages')).toBeNull();
  });

  it('asks for older messages when the reader comes near the top, and not again after a failure', () => {
    const fake = fakeChat([user('x')]);
    fake.older.value = 'some';
    show(fake);
    fireEvent.scroll(screen.getByRole('group', { name: 'Conversation' }));
    expect(fake.calls).toEqual([['loadOlder']]);
    void act(() => {
      fake.older.value = 'failed';
    });
    fireEvent.scroll(screen.getByRole('group', { name: 'Conversation' }));
    expect(fake.calls).toEqual([['loadOlder']]);
  });

  it('leaves the reader alone when an answer comes, and goes down with what the person sends', () => {
    const fake = fakeChat([user('x')]);
    show(fake);
    const box = screen.getByRole('group', { name: 'Conversation' });
    Object.defineProperties(box, { scrollHeight: { value: 2000 }, clientHeight: { value: 500 } });
    for (const top of [1500, 900]) {
      box.scrollTop = top;
      fireEvent.scroll(box);
    }
    void act(() => {
      fake.messages.value = [...fake.messages.value, assistant([text('news')])];
    });
    expect(box.scrollTop).toBe(900);
    expect(button('Jump to latest')).toBeTruthy();
    void act(() => {
      fake.messages.value = [...fake.messages.value, user('mine', {}, 'sending')];
    });
    expect(box.scrollTop).toBe(2000);
    expect(screen.queryByRole('button', { name: 'Jump to latest' })).toBeNull();
  });
});

describe('what the person wrote', () => {
  it('stays plain text', () => {
    const box = show(fakeChat([user('**no** <b>bold</b>\n  two')]));
    expect(box.querySelector('.cc-user-text')?.textContent).toBe('**no** <b>bold</b>\n  two');
  });

  it('can be sent again when it was not sent', () => {
    const message = user('x', {}, 'unsent');
    const fake = fakeChat([message]);
    show(fake);
    fireEvent.click(button('Send again'));
    expect(fake.calls).toEqual([['resend', message.key]]);
  });

  it('can be edited into a new chat, by keyboard and by Save', () => {
    const fake = fakeChat([user('first', { cursor: 7 })]);
    show(fake);
    fireEvent.click(button('Edit and retry'));
    const field = screen.getByRole('textbox', { name: 'Edit message' });
    expect(document.activeElement).toBe(field);
    fireEvent.input(field, { target: { value: 'second' } });
    fireEvent.click(button('Save'));
    expect(fake.calls).toEqual([['retry', 7, 'second']]);
    fireEvent.click(button('Edit and retry'));
    fireEvent.keyDown(screen.getByRole('textbox', { name: 'Edit message' }), { key: 'Escape' });
    expect(screen.queryByRole('textbox', { name: 'Edit message' })).toBeNull();
  });

  it.each([
    ['sending', 'Sending…'],
    ['queued', 'Queued: comes after the running answer'],
    ['unsent', 'Not sent']
  ])('says that it is %s, and nothing more once it was sent', (state, words) => {
    const message = user('x', {}, state);
    show(fakeChat([message]));
    expect(screen.getByText(words)).toBeTruthy();
    void act(() => {
      message.state.value = 'sent';
    });
    expect(screen.queryByText(words)).toBeNull();
    expect(screen.queryByRole('button', { name: 'Send again' })).toBeNull();
  });

  it('interrupts a screen reader only when it was not sent', () => {
    show(fakeChat([user('x', {}, 'queued'), user('y', {}, 'unsent')]));
    expect(screen.getByRole('alert').textContent).toContain('Not sent');
  });

  it('says that it joined the running answer until it turns out that it did not', () => {
    const message = user('in French');
    message.steer.value = true;
    show(fakeChat([message]));
    expect(screen.getByText('Joined the running answer')).toBeTruthy();
    expect(screen.queryByRole('button', { name: 'Edit and retry' })).toBeNull();
    void act(() => {
      message.cursor = 5;
      message.steer.value = false;
    });
    expect(screen.queryByText('Joined the running answer')).toBeNull();
    expect(button('Edit and retry')).toBeTruthy();
  });

  it('shows what was attached by its labels', () => {
    const message = user('x', {
      context: [
        { kind: 'cell', label: 'cell 12' },
        { kind: 'variable', label: 'df 8,412×14' }
      ],
      skills: [{ name: 'code-review', label: 'Code review' }, { name: 'plain' }],
      connectors: [{ server: 'github' }]
    });
    show(fakeChat([message]));
    const article = within(screen.getByRole('article', { name: 'You' }));
    for (const words of ['cell 12', 'df 8,412×14', 'Code review', 'plain', 'github'])
      expect(article.getByText(words)).toBeTruthy();
  });

  it('can be edited only where the server has it', () => {
    const message = user('x', {}, 'sending');
    show(fakeChat([message]));
    expect(screen.queryByRole('button', { name: 'Edit and retry' })).toBeNull();
    void act(() => {
      message.cursor = 3;
      message.state.value = 'sent';
    });
    expect(button('Edit and retry')).toBeTruthy();
  });

  it('is saved with Ctrl+Enter, not with Enter alone, in the middle of a composition or empty', () => {
    const fake = fakeChat([user('first', { cursor: 7 })]);
    show(fake);
    fireEvent.click(button('Edit and retry'));
    const field = screen.getByRole('textbox', { name: 'Edit message' });
    fireEvent.keyDown(field, { key: 'Enter' });
    fireEvent.keyDown(field, { key: 'Enter', ctrlKey: true, isComposing: true });
    fireEvent.input(field, { target: { value: '  ' } });
    fireEvent.keyDown(field, { key: 'Enter', ctrlKey: true });
    expect(button('Save')).toHaveProperty('disabled', true);
    expect(fake.calls).toEqual([]);
    fireEvent.input(field, { target: { value: 'second' } });
    fireEvent.keyDown(field, { key: 'Enter', ctrlKey: true });
    expect(fake.calls).toEqual([['retry', 7, 'second']]);
  });

  it('is as before after Escape and Cancel, with the focus where it came from', () => {
    const fake = fakeChat([user('first', { cursor: 7 })]);
    show(fake);
    const leave = [
      (field: HTMLElement): unknown => fireEvent.keyDown(field, { key: 'Escape' }),
      (): unknown => fireEvent.click(button('Cancel'))
    ];
    for (const way of leave) {
      fireEvent.click(button('Edit and retry'));
      const field = screen.getByRole('textbox', { name: 'Edit message' });
      fireEvent.input(field, { target: { value: 'second' } });
      way(field);
      expect(screen.getByText('first')).toBeTruthy();
      expect(document.activeElement).toBe(button('Edit and retry'));
    }
    expect(fake.calls).toEqual([]);
  });
});

describe('tool calls', () => {
  it('are groups that are busy while they run', () => {
    const part = tool('exec', { status: 'running', result: '' }, { command: 'ls' });
    show(fakeChat([assistant([part], { running: true })]));
    const row = screen.getByRole('group', { name: 'Tool call exec' });
    expect(row.getAttribute('aria-busy')).toBe('true');
    void act(() => {
      part.state.value = { status: 'ok', result: 'a.txt', truncated: false, durationSec: 1.25 };
    });
    expect(row.getAttribute('aria-busy')).toBe('false');
    expect(row.textContent).toContain('1.3 s');
  });

  it('open in place and load the whole result, telling a failure there', async () => {
    const fake = fakeChat([
      assistant([tool('exec', { truncated: true, result: 'begin…' }, { command: 'ls', deep: { a: 1 } })])
    ]);
    fake.fullResult = () => Promise.reject(new Error('gone'));
    show(fake);
    const row = screen.getByRole('group', { name: 'Tool call exec' });
    fireEvent.click(within(row).getAllByRole('button')[0]);
    expect(row.textContent).toContain('begin…');
    expect(row.querySelector('.cc-tree .cc-tree')?.textContent).toContain('a');
    fireEvent.click(within(row).getByRole('button', { name: 'Open full result' }));
    expect((await within(row).findByRole('alert')).textContent).toContain('gone');
    fake.fullResult = id => Promise.resolve(`all of ${id}`);
    fireEvent.click(within(row).getByRole('button', { name: 'Open full result' }));
    await waitFor(() => expect(row.textContent).toContain('all of call-'));
  });

  it('fold when ten finished ones stand in a row', () => {
    const parts = Array.from({ length: 9 }, () => tool('grep'));
    const last = tool('exec', { status: 'running' });
    show(fakeChat([assistant([...parts, last], { running: true })]));
    expect(screen.getAllByRole('group', { name: /^Tool call/ })).toHaveLength(10);
    void act(() => {
      last.state.value = { ...last.state.value, status: 'failed' };
    });
    expect(screen.queryAllByRole('group', { name: /^Tool call/ })).toHaveLength(0);
    fireEvent.click(button(/10 steps.*1 failed/));
    expect(screen.getAllByRole('group', { name: /^Tool call/ })).toHaveLength(10);
  });

  it.each([
    ['running', 'running'],
    ['asking', 'waits for your answer'],
    ['ok', 'done'],
    ['failed', 'failed']
  ] as const)('that are %s say so in words', (status, words) => {
    show(fakeChat([assistant([tool('exec', { status })])]));
    expect(within(row('exec')).getByText(words)).toBeTruthy();
    expect(row('exec').getAttribute('aria-busy')).toBe(String(status === 'running'));
  });

  it('open with arguments and result, and close again', () => {
    show(fakeChat([assistant([tool('exec', { result: 'a.txt' }, { path: 'data', command: 'ls -l' })])]));
    expect(within(row('exec')).queryByRole('group', { name: 'Result' })).toBeNull();
    expect(line('exec').getAttribute('aria-expanded')).toBe('false');
    fireEvent.click(line('exec'));
    expect(line('exec').getAttribute('aria-expanded')).toBe('true');
    expect(within(row('exec')).getByRole('list').textContent).toMatch(/path data.*command ls -l/);
    expect(within(row('exec')).getByRole('group', { name: 'Result' }).textContent).toBe('a.txt');
    fireEvent.click(line('exec'));
    expect(within(row('exec')).queryByRole('group', { name: 'Result' })).toBeNull();
  });

  it('have words for no arguments and for no output', () => {
    show(fakeChat([assistant([tool('exec', { result: '' })])]));
    fireEvent.click(line('exec'));
    expect(screen.getByText('No arguments')).toBeTruthy();
    expect(screen.getByText('No output')).toBeTruthy();
  });

  it('ask the store once for the whole of a result that was cut, and never for one that is whole', async () => {
    const [cut, whole] = [tool('exec', { truncated: true }), tool('grep')];
    const fake = fakeChat([assistant([cut, whole])]);
    let answer: (words: string) => void = () => undefined;
    const asked = vi.fn((_: string) => new Promise<string>(done => (answer = done)));
    fake.fullResult = asked;
    show(fake);
    for (const name of ['exec', 'grep']) fireEvent.click(line(name));
    expect(within(row('grep')).queryByRole('button', { name: 'Open full result' })).toBeNull();
    for (let press = 0; press < 2; press += 1) fireEvent.click(button('Open full result'));
    expect(asked.mock.calls).toEqual([[cut.callId]]);
    expect(button('Open full result').getAttribute('aria-busy')).toBe('true');
    await act(() => Promise.resolve(answer('all of it')));
    expect(within(row('exec')).getByRole('group', { name: 'Result' }).textContent).toBe('all of it');
    expect(screen.queryByRole('button', { name: 'Open full result' })).toBeNull();
  });

  it('stay rows when nine stand together, or words stand between them', () => {
    const nine = (): ReturnType<typeof tool>[] => Array.from({ length: 9 }, () => tool('grep'));
    show(fakeChat([assistant([...nine(), text('So far.'), ...nine()])]));
    expect(screen.getAllByRole('group', { name: 'Tool call grep' })).toHaveLength(18);
    expect(screen.queryByRole('button', { name: /steps/ })).toBeNull();
  });

  it('unfold and fold again, and count on while more of them end', () => {
    const message = assistant(Array.from({ length: 10 }, () => tool('grep')));
    show(fakeChat([message]));
    const steps = button('10 steps');
    expect(steps.getAttribute('aria-expanded')).toBe('false');
    fireEvent.click(steps);
    expect(steps.getAttribute('aria-expanded')).toBe('true');
    void act(() => {
      message.parts.value = [...message.parts.value, tool('exec')];
    });
    expect(button('11 steps').getAttribute('aria-expanded')).toBe('true');
    expect(row('exec')).toBeTruthy();
    fireEvent.click(button('11 steps'));
    expect(screen.queryAllByRole('group', { name: /^Tool call/ })).toEqual([]);
  });
});

describe('reasoning', () => {
  const thought = (seconds: number | undefined): ReasoningPart => ({
    kind: 'reasoning',
    key: 'thought',
    text: signal('First I count the rows.'),
    seconds: signal(seconds)
  });

  it('is one folded line that opens in place', () => {
    show(fakeChat([assistant([thought(4), text('Nine rows.')])]));
    const fold = button('Thought for 4 s');
    expect(fold.getAttribute('aria-expanded')).toBe('false');
    expect(screen.queryByText('First I count the rows.')).toBeNull();
    fireEvent.click(fold);
    expect(fold.getAttribute('aria-expanded')).toBe('true');
    expect(screen.getByText('First I count the rows.')).toBeTruthy();
    fireEvent.click(fold);
    expect(screen.queryByText('First I count the rows.')).toBeNull();
  });

  it('says that it goes on, then how long it took, and stays open meanwhile', () => {
    const part = thought(undefined);
    show(fakeChat([assistant([part], { running: true })]));
    fireEvent.click(button('Thinking…'));
    void act(() => {
      part.seconds.value = 65.4;
    });
    expect(button('Thought for 1 min 5 s').getAttribute('aria-expanded')).toBe('true');
  });

  it('has no duration where nobody measured it', () => {
    show(fakeChat([assistant([thought(undefined)])]));
    expect(button('Thought')).toBeTruthy();
  });
});

describe('approvals', () => {
  const pending = (): [FakeChat, ReturnType<typeof tool>] => {
    const part = tool('exec', asking('rm -r build/\u202e'), { command: 'rm' });
    return [fakeChat([assistant([part], { running: true })]), part];
  };

  it('show what would be done, with hidden characters written out, and the time that is left', () => {
    const [fake] = pending();
    show(fake);
    expect(screen.getByRole('group', { name: 'Preview' }).textContent).toBe('rm -r build/⟨U+202E⟩');
    expect(screen.getByRole('alert').textContent).toContain('Allow this command?');
    expect(screen.getByRole('timer').textContent).toMatch(/left/);
  });

  it('take each of the answers', () => {
    const [fake, { callId }] = pending();
    show(fake);
    fireEvent.click(button('Allow once'));
    fireEvent.click(button('More ways to allow'));
    fireEvent.click(button('Allow for this turn'));
    fireEvent.click(button('Allow for this chat'));
    fireEvent.click(button('Deny'));
    expect(fake.calls).toEqual([
      ['decide', callId, 'allow', 'once'],
      ['decide', callId, 'allow', 'turn'],
      ['decide', callId, 'allow', 'chat'],
      ['decide', callId, 'deny', 'once']
    ]);
  });

  it('focus Deny when nobody types', () => {
    const [fake] = pending();
    show(fake);
    expect(document.activeElement).toBe(button('Deny'));
  });

  it('never take the focus from the composer or from outside the panel', () => {
    const fake = fakeChat([assistant([], { running: true })]);
    const outside = document.body.appendChild(document.createElement('button'));
    show(fake);
    for (const holder of [screen.getByRole('textbox', { name: 'Message CashCode' }), outside]) {
      holder.focus();
      void act(() => {
        fake.messages.value = [assistant([tool('exec', asking('ls'))], { running: true })];
      });
      expect(document.activeElement).toBe(holder);
    }
    outside.remove();
  });

  it('ignore a key that is held down', () => {
    const [fake] = pending();
    show(fake);
    expect(fireEvent.keyDown(button('Allow once'), { key: 'Enter', repeat: true })).toBe(false);
  });

  it('give the focus to their row when they go, and say how they ended', () => {
    const [fake, part] = pending();
    show(fake);
    expect(document.activeElement).toBe(button('Deny'));
    const decided: ToolState = { ...part.state.value, status: 'failed' };
    void act(() => {
      part.state.value = { ...decided, approval: { ...decided.approval!, decision: 'deny', reason: 'timeout' } };
    });
    const row = screen.getByRole('group', { name: 'Tool call exec' });
    expect(row.textContent).toContain('Denied: nobody answered in time');
    expect(within(row).getByRole('button')).toBe(document.activeElement);
  });

  it('mark added and removed lines by their signs', () => {
    show(fakeChat([assistant([tool('edit_file', asking('--- a\n+++ b\n-old\n+new'))])]));
    const lines = [...screen.getByRole('group', { name: 'Preview' }).children].map(line => line.textContent);
    expect(lines).toEqual(['--- a', '+++ b', '-old', '+new']);
  });

  it.each([
    ['read', 'Allow this to be read?'],
    ['write', 'Allow this change?'],
    ['execute', 'Allow this command?'],
    ['network', 'Allow this request to the network?'],
    ['memory', 'Allow this to be remembered?']
  ] as const)('ask about %s in their own words', (risk, words) => {
    show(fakeChat([assistant([{ ...tool('act', asking('x')), risk }])]));
    expect(screen.getByRole('alert').textContent).toContain(words);
  });

  it('show the wider answers only to whoever asks for them', () => {
    const [fake] = pending();
    show(fake);
    expect(screen.queryByRole('button', { name: 'Allow for this chat' })).toBeNull();
    expect(button('More ways to allow').getAttribute('aria-expanded')).toBe('false');
    fireEvent.click(button('More ways to allow'));
    expect(button('More ways to allow').getAttribute('aria-expanded')).toBe('true');
    expect(button('Allow for this turn')).toBeTruthy();
    expect(fake.calls).toEqual([]);
  });

  it('allow nothing by Enter, wherever it is pressed near them except on the buttons that allow', () => {
    const [fake, { callId }] = pending();
    show(fake);
    const near = [
      screen.getByRole('group', { name: 'Conversation' }),
      screen.getByRole('list', { name: 'Messages' }),
      row('exec'),
      line('exec'),
      screen.getByRole('alert'),
      screen.getByRole('timer'),
      screen.getByRole('group', { name: 'Preview' }),
      button('More ways to allow')
    ];
    for (const target of near) enter(target);
    expect(fake.calls).toEqual([]);
    expect(document.activeElement).toBe(button('Deny'));
    enter(button('Deny'));
    expect(fake.calls).toEqual([['decide', callId, 'deny', 'once']]);
  });

  it('take the focus from a button of the panel that was pressed, not from another question', () => {
    const [first, second] = [tool('read_file'), tool('exec')];
    const fake = fakeChat([assistant([first, second], { running: true })]);
    const ask = (part: ToolPart): unknown =>
      act(() => {
        part.state.value = { ...part.state.value, ...asking('x') };
      });
    show(fake);
    line('read_file').focus();
    ask(second);
    const deny = within(row('exec')).getByRole('button', { name: 'Deny' });
    expect(document.activeElement).toBe(deny);
    ask(first);
    expect(document.activeElement).toBe(deny);
  });

  it('never take the focus from a message that is being edited', () => {
    const fake = fakeChat([user('x', { cursor: 1 })]);
    show(fake);
    fireEvent.click(button('Edit and retry'));
    void act(() => {
      fake.messages.value = [...fake.messages.value, assistant([tool('exec', asking('ls'))], { running: true })];
    });
    expect(document.activeElement).toBe(screen.getByRole('textbox', { name: 'Edit message' }));
  });

  it('never take the focus from the page around a shadow tree, and return it to their row within', () => {
    const cell = document.body.appendChild(document.createElement('textarea'));
    const root = document.body.appendChild(document.createElement('div')).attachShadow({ mode: 'open' });
    const container = root.appendChild(document.createElement('div'));
    const [fake, part] = pending();
    cell.focus();
    render(<ChatView store={fake.store} host={{ kind: 'cell', language: 'en' }} />, { container });
    expect(document.activeElement).toBe(cell);
    within(container).getByRole('button', { name: 'Allow once' }).focus();
    void act(() => {
      part.state.value = { ...part.state.value, status: 'running', approval: undefined };
    });
    const rows = within(container).getByRole('group', { name: 'Tool call exec' });
    expect(root.activeElement).toBe(within(rows).getByRole('button'));
    cell.remove();
    root.host.remove();
  });

  it('count down and say that the time is up', () => {
    vi.useFakeTimers();
    const [fake] = pending();
    show(fake);
    expect(screen.getByRole('timer').textContent).toBe('1 min 30 s left');
    pass(31_000);
    expect(screen.getByRole('timer').textContent).toBe('59 s left');
    pass(60_000);
    expect(screen.getByRole('timer').textContent).toBe('Time is up');
  });

  it.each([
    ['allow', 'user', 'Allowed'],
    ['deny', 'user', 'Denied'],
    ['deny', 'timeout', 'Denied: nobody answered in time'],
    ['deny', 'cancelled', 'Denied: the turn was stopped'],
    ['deny', 'unattended', 'Denied: nobody was there to ask']
  ] as const)('that were answered elsewhere (%s, %s) close and say: %s', (decision, reason, words) => {
    const [fake, part] = pending();
    show(fake);
    const { approval, ...state } = part.state.value;
    void act(() => {
      part.state.value = { ...state, status: 'running', approval: { ...approval!, decision, reason } };
    });
    expect(within(row('exec')).getByText(words)).toBeTruthy();
    expect(screen.queryByRole('button', { name: 'Deny' })).toBeNull();
    expect(fake.calls).toEqual([]);
  });
});

describe('the end of a turn', () => {
  it('offers Retry with the cursor of the question', () => {
    const error = { code: 'llm_unreachable', detail: 'No answer.', retryable: true };
    const fake = fakeChat([user('q', { cursor: 5 }), assistant([], { error })]);
    show(fake);
    expect(screen.getByRole('alert').textContent).toContain('No answer.');
    fireEvent.click(button('Retry'));
    expect(fake.calls).toEqual([['retry', 5]]);
  });

  it.each([
    ['llm_not_configured', 'Connect a model'],
    ['llm_auth', 'Open settings'],
    ['llm_model_not_found', 'Choose another model']
  ])('leads from %s to the settings', (code, name) => {
    const fake = fakeChat([assistant([], { error: { code, detail: 'x', retryable: false } })]);
    show(fake);
    fireEvent.click(button(name));
    expect(fake.view.value).toBe('settings');
  });

  it('says in words why it stopped and what it used', () => {
    const usage = { promptTokens: 1100, completionTokens: 120, contextWindow: 16_000, estimated: false };
    show(fakeChat([assistant([text('x')], { stopReason: 'cancelled', usage })]));
    expect(screen.getByText('Stopped')).toBeTruthy();
    expect(screen.getByText('1.2k tokens · 8 % of context')).toBeTruthy();
  });

  const unreachable = { code: 'llm_unreachable', detail: 'No answer.', retryable: true };

  it('retries from the question and not from what joined its answer', () => {
    const joined = user('in French', { cursor: 6 });
    joined.steer.value = true;
    const fake = fakeChat([user('q', { cursor: 5 }), joined, assistant([], { error: unreachable })]);
    show(fake);
    fireEvent.click(button('Retry'));
    expect(fake.calls).toEqual([['retry', 5]]);
  });

  it('sends the words again where the server never stored them', () => {
    const fake = fakeChat([user('q'), assistant([], { error: unreachable })]);
    show(fake);
    fireEvent.click(button('Retry'));
    expect(fake.calls).toEqual([['send', 'q']]);
  });

  it('offers a new chat when this one is too long for the model', () => {
    const error = { code: 'llm_context_overflow', detail: 'Too long.', retryable: false };
    const fake = fakeChat([user('q', { cursor: 5 }), assistant([], { error })]);
    show(fake);
    fireEvent.click(button('New chat'));
    expect(fake.calls).toEqual([['newChat']]);
  });

  it.each(['llm_unreachable', 'llm_not_configured', 'llm_auth', 'llm_context_overflow', 'internal'])(
    'has one button for %s',
    code => {
      const error = { code, detail: 'A sentence.', retryable: false };
      show(fakeChat([user('q', { cursor: 5 }), assistant([], { error })]));
      expect(within(screen.getByRole('alert')).getAllByRole('button')).toHaveLength(1);
    }
  );

  it('says when to try again where that is known', () => {
    show(fakeChat([user('q'), assistant([], { error: { ...unreachable, retryAfter: 20 } })]));
    expect(screen.getByRole('alert').textContent).toContain('No answer. Try again in 20 s.');
  });

  it('shows an error that belongs to no turn below the messages, until it is gone', () => {
    const fake = fakeChat([user('q')]);
    fake.problem.value = { code: 'llm_not_configured', detail: 'No model is connected.', retryable: false };
    show(fake);
    expect(screen.getByRole('alert').textContent).toContain('No model is connected.');
    fireEvent.click(button('Connect a model'));
    expect(fake.view.value).toBe('settings');
    void act(() => {
      fake.problem.value = undefined;
    });
    expect(screen.queryByRole('alert')).toBeNull();
  });

  it.each([
    ['budget', 'Stopped: the turn used up its steps. Send “continue” to go on.'],
    ['loop', 'Stopped: the same step came again and again without a new result.'],
    ['suppressed', 'Nothing to report'],
    ['answered', 'The answer was empty']
  ] as const)('has words for an empty turn that ended by %s', (stopReason, words) => {
    show(fakeChat([assistant([], { stopReason })]));
    expect(screen.getByText(words)).toBeTruthy();
  });

  it('is silent while the turn runs, but for its waiting', () => {
    const usage = { promptTokens: 1, completionTokens: 1, estimated: false };
    const message = assistant([], { running: true, stopReason: 'cancelled', usage });
    show(fakeChat([message]));
    expect(screen.getByText('Waiting for the model…')).toBeTruthy();
    expect(screen.queryByText('Stopped')).toBeNull();
    expect(screen.queryByText(/tokens/)).toBeNull();
    void act(() => {
      message.running.value = false;
    });
    expect(screen.queryByText('Waiting for the model…')).toBeNull();
    expect(screen.getByText('Stopped')).toBeTruthy();
    expect(screen.getByText('2 tokens')).toBeTruthy();
  });

  it('marks estimated use, leaves out an unknown window and never tells more than all of one', () => {
    const used = { promptTokens: 900, completionTokens: 300, estimated: true };
    show(fakeChat([assistant([], { usage: used }), assistant([], { usage: { ...used, contextWindow: 1000 } })]));
    expect(screen.getByText('≈ 1.2k tokens')).toBeTruthy();
    expect(screen.getByText('≈ 1.2k tokens · 100 % of context')).toBeTruthy();
    expect(screen.getAllByTitle('900 tokens read, 300 written')).toHaveLength(2);
  });
});

describe('code', () => {
  const answer = (): FakeChat => fakeChat([assistant([text('```python\nprint(1)\n```')])]);
  const notebook = (more: Partial<NotebookHost> = {}): NotebookHost => ({
    available: () => true,
    insertBelow: () => Promise.resolve(),
    replaceCell: () => Promise.resolve(),
    context: () => Promise.resolve([]),
    ...more
  });

  it('is copied by the clipboard and says so', async () => {
    const writeText = vi.fn(() => Promise.resolve());
    vi.stubGlobal('navigator', { clipboard: { writeText } });
    show(answer());
    fireEvent.click(button('Copy code'));
    expect(await screen.findByText('Copied')).toBeTruthy();
    expect(writeText).toHaveBeenCalledWith('print(1)');
  });

  it('is copied by a selection where there is no clipboard', async () => {
    vi.stubGlobal('navigator', {});
    document.execCommand = vi.fn(() => true);
    show(answer());
    fireEvent.click(button('Copy code'));
    expect(await screen.findByText('Copied')).toBeTruthy();
  });

  it('goes into the notebook only when there is one', () => {
    const insertBelow = vi.fn(() => Promise.resolve());
    show(answer(), { notebook: notebook({ insertBelow }) });
    fireEvent.click(button('Insert below'));
    expect(insertBelow).toHaveBeenCalledWith('print(1)');
    cleanup();
    show(answer(), { notebook: notebook({ available: () => false }) });
    expect(screen.queryByRole('button', { name: 'Insert below' })).toBeNull();
  });

  it('tells in place why a cell was not replaced', async () => {
    const replaceCell = (): Promise<void> => Promise.reject(new Error('no cell is active'));
    show(answer(), { notebook: notebook({ replaceCell }) });
    fireEvent.click(button('Replace cell'));
    expect((await screen.findByRole('alert')).textContent).toContain('no cell is active');
  });

  it('has its buttons inside a list as well', () => {
    show(fakeChat([assistant([text('1. run\n\n   ```sh\n   ls\n   ```')])]));
    expect(button('Copy code').closest('li')).toBeTruthy();
  });
});

describe('streaming', () => {
  it('touches only the open end: settled blocks and other messages stay as they are', async () => {
    const part = text('First.\n\n```python\na = 1\n```\n\n');
    const box = show(
      fakeChat([user('q'), assistant([text('Old **answer**')]), assistant([part], { running: true })])
    );
    await frame();
    const settled = [...box.querySelectorAll('.cc-markdown > *')];
    expect(settled.length).toBeGreaterThanOrEqual(3);
    const touched: Node[] = [];
    const observer = new MutationObserver(records => touched.push(...records.map(record => record.target)));
    for (const block of settled) observer.observe(block, { childList: true, characterData: true, subtree: true });
    for (let count = 0; count < 200; count += 1) {
      part.text.value += `word ${count} `;
      if (count % 20 === 0) await frame();
    }
    await frame();
    touched.push(...observer.takeRecords().map(record => record.target));
    const code = settled.find(block => block.classList.contains('cc-codeblock'));
    expect(touched.filter(node => !code?.contains(node))).toEqual([]);
    expect(box.textContent).toContain('word 199');
  });

  it('renders many deltas of a frame once', async () => {
    const part = text('');
    const box = show(fakeChat([assistant([part], { running: true })]));
    await frame();
    let renders = 0;
    const observer = new MutationObserver(records => {
      renders += records.filter(
        record => record.target instanceof Element && record.target.matches('.cc-block')
      ).length;
    });
    observer.observe(box, { childList: true, subtree: true });
    for (let count = 0; count < 2000; count += 1) part.text.value += 'w ';
    await frame();
    await frame();
    expect(renders).toBeLessThan(5);
    expect(box.textContent).toContain('w w w');
  });

  it('ends as the same page as the whole answer at once', async () => {
    const source =
      'Intro [r]\n\n- a\n- **b**\n\n```py\nx = 1\n```\n\n| a |\n|---|\n| 1 |\n\n$$x$$\n\n[r]: https://e.org\n';
    const part = text('');
    const message = assistant([part], { running: true });
    const streamed = show(fakeChat([message]));
    for (const letter of source) {
      part.text.value += letter;
      if (letter === '\n' || letter === '*') await frame();
    }
    void act(() => {
      message.running.value = false;
    });
    const whole = show(fakeChat([assistant([text(source)])]));
    await waitFor(() => {
      for (const box of [streamed, whole]) expect(box.querySelector('.hljs-number')).toBeTruthy();
    });
    expect(streamed.querySelector('.cc-markdown')?.outerHTML).toBe(whole.querySelector('.cc-markdown')?.outerHTML);
  });

  it('is announced when it is over, the rest of it at most', async () => {
    const part = text('A short answer.');
    const message = assistant([part], { running: true });
    show(fakeChat([message]));
    void act(() => {
      message.running.value = false;
    });
    await waitFor(() => expect(screen.getByText('A short answer. The answer is complete.')).toBeTruthy());
  });

  it('renders a settled block once, however much comes after it', async () => {
    // The host sets the formula of a block that is settled whenever the block is made anew.
    const typeset = vi.fn((_: HTMLElement) => undefined);
    const part = text('The sum is $a + b$ here.\n\n');
    show(fakeChat([assistant([text('Before: $c$')]), assistant([part], { running: true })]), { typeset });
    await frame();
    // Not the announcer, which says the same on a slow machine.
    const answer = within(screen.getAllByRole('article', { name: 'CashCode' })[1]);
    const settled = answer.getByText(/The sum is/);
    for (let count = 0; count < 30; count += 1) {
      part.text.value += `word ${count} `;
      await frame();
    }
    expect(answer.getByText(/word 29/)).toBeTruthy();
    expect(typeset.mock.calls.map(([node]) => node.textContent)).toEqual(['$c$', '$a + b$']);
    expect(answer.getByText(/The sum is/)).toBe(settled);
  });
});

describe('what a screen reader hears', () => {
  const heard = (): string => screen.getByRole('status').textContent ?? '';

  it('comes in whole sentences every few seconds, not with every delta', () => {
    vi.useFakeTimers();
    const part = text('');
    show(fakeChat([assistant([part], { running: true })]));
    const said: string[] = [];
    for (let count = 1; count <= 120; count += 1) {
      void act(() => {
        part.text.value += count % 6 === 0 ? `word${count}. ` : `**word${count}** `;
        vi.advanceTimersByTime(100);
      });
      if (heard() !== (said.at(-1) ?? '')) said.push(heard());
    }
    expect(said.length).toBeGreaterThan(1);
    expect(said.length).toBeLessThanOrEqual(3);
    for (const words of said) expect(words).toMatch(/^word\d+ .*word\d+\.$/);
    const words = said.join(' ').split(' ');
    expect(words).toEqual(words.map((_, at) => ((at + 1) % 6 === 0 ? `word${at + 1}.` : `word${at + 1}`)));
  });

  it('is no part of the answer itself', () => {
    show(fakeChat([assistant([text('Quiet.')], { running: true })]));
    const article = screen.getByRole('article', { name: 'CashCode' });
    expect(article.closest('[aria-live]')).toBeNull();
    expect(heard()).toBe('');
  });

  it('ends with a hint where much is left, instead of all of it', () => {
    const message = assistant([text('A sentence that goes on. '.repeat(40))], { running: true });
    show(fakeChat([message]));
    void act(() => {
      message.running.value = false;
    });
    expect(heard()).toBe('The rest of the answer is in the chat. The answer is complete.');
  });

  it('is said again when the next answer has the same words', () => {
    const fake = fakeChat();
    show(fake);
    for (let turn = 0; turn < 2; turn += 1) {
      const message = assistant([text('Done.')], { running: true });
      void act(() => {
        fake.messages.value = [...fake.messages.value, message];
      });
      expect(heard()).toBe('');
      void act(() => {
        message.running.value = false;
      });
      expect(heard()).toBe('Done. The answer is complete.');
    }
  });

  it('says nothing of a history that is only shown', () => {
    vi.useFakeTimers();
    show(fakeChat([user('q'), assistant([text('An old answer.')])]));
    pass(20_000);
    expect(heard()).toBe('');
  });
});
