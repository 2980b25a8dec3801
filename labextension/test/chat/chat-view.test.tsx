import { act, cleanup, fireEvent, render, screen, waitFor, within } from '@testing-library/preact';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Host, NotebookHost } from '../../src/host';
import type { ToolState } from '../../src/store/types';
import { ChatView } from '../../src/views/chat/chat-view';
import { asking, assistant, fakeChat, text, tool, user } from './fake-chat';
import type { FakeChat } from './fake-chat';

afterEach(cleanup);

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
});
