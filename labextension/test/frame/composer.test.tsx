import { cleanup, fireEvent, render, screen, waitFor, within } from '@testing-library/preact';
import { afterEach, describe, expect, it } from 'vitest';
import type { ContextChoice, Host } from '../../src/host';
import { Composer } from '../../src/views/composer/composer';
import { fakeStore, userMessage, type FakeStore } from './fake-store';
import { press, type } from './keys';

afterEach(cleanup);

const host: Host = { kind: 'sidebar', language: 'en' };
const box = (): HTMLTextAreaElement =>
  screen.getByRole<HTMLTextAreaElement>('textbox', { name: 'Message CashCode' });
const show = (store: FakeStore, where: Host = host): void => void render(<Composer store={store} host={where} />);
const notice = (): string => screen.getByRole('alert').textContent ?? '';
const picker = (name: string): HTMLElement => screen.getByRole('listbox', { name });
const pick = async (text: string): Promise<void> => {
  type(box(), text);
  await within(await screen.findByRole('listbox')).findByRole('option', { selected: true });
  press(box(), 'Enter');
};

describe('sending', () => {
  it('sends with Enter, with the model that is shown, and empties the box', () => {
    const store = fakeStore();
    show(store);
    type(box(), 'Why?');
    press(box(), 'Enter');
    const [[content, , model]] = store.asked('send');
    expect(content).toBe('Why?');
    expect(model).toEqual({ provider: 'ollama', model: 'qwen3:8b' });
    expect(box().value).toBe('');
    expect(store.draft('chat-1')).toBe('');
  });

  it('breaks the line with Shift+Enter and never sends blanks', () => {
    const store = fakeStore();
    show(store);
    type(box(), 'Why?');
    expect(press(box(), 'Enter', { shiftKey: true })).toBe(false);
    type(box(), '  \n ');
    press(box(), 'Enter');
    expect(store.asked('send')).toEqual([]);
    expect(screen.getByRole<HTMLButtonElement>('button', { name: 'Send' }).disabled).toBe(true);
  });

  it('sends only with Ctrl+Enter where the host says so, also when that changes', async () => {
    const store = fakeStore();
    let tell: (options: { sendWithEnter?: boolean }) => void = () => undefined;
    show(store, {
      ...host,
      options: () => ({ sendWithEnter: false }),
      onOptions: hear => ((tell = hear), () => undefined)
    });
    type(box(), 'Why?');
    press(box(), 'Enter');
    expect(store.asked('send')).toEqual([]);
    press(box(), 'Enter', { ctrlKey: true });
    expect(store.asked('send')).toHaveLength(1);
    tell({ sendWithEnter: true });
    await screen.findByTitle('Send (Enter)');
    type(box(), 'And?');
    press(box(), 'Enter');
    expect(store.asked('send')).toHaveLength(2);
  });

  it('leaves Enter to an input method that composes', () => {
    const store = fakeStore();
    show(store);
    type(box(), 'ni hao');
    press(box(), 'Enter', { isComposing: true });
    press(box(), 'Enter', { keyCode: 229 });
    expect(store.asked('send')).toEqual([]);
    expect(box().value).toBe('ni hao');
  });

  it('keeps the text and says why when there is no connection', () => {
    const store = fakeStore();
    store.connection.value = 'lost';
    show(store);
    type(box(), 'Why?');
    press(box(), 'Enter');
    expect(store.asked('send')).toEqual([]);
    expect(box().value).toBe('Why?');
    expect(notice()).toContain('Not connected');
  });

  it('asks for a model where none is chosen and moves the focus there', () => {
    const store = fakeStore();
    store.models.fallback.value = undefined;
    show(store);
    type(box(), 'Why?');
    press(box(), 'Enter');
    expect(notice()).toBe('Choose a model first.');
    expect(document.activeElement).toBe(screen.getByRole('combobox', { name: 'Model' }));
  });

  it('refuses what is larger than a frame, in words', () => {
    const store = fakeStore();
    show(store);
    type(box(), 'x'.repeat(1_100_000));
    press(box(), 'Enter');
    expect(store.asked('send')).toEqual([]);
    expect(notice()).toContain('too large');
  });
});

describe('a running turn', () => {
  it('has Stop instead of Send, and Enter steers', () => {
    const store = fakeStore();
    store.chat.running.value = true;
    show(store);
    expect(screen.queryByRole('button', { name: 'Send' })).toBeNull();
    fireEvent.click(screen.getByRole('button', { name: 'Stop' }));
    expect(store.asked('stop')).toHaveLength(1);
    expect(box().placeholder).toBe('Add to the running turn…');
    type(box(), 'Use May only');
    press(box(), 'Enter');
    expect(store.asked('send')[0][0]).toBe('Use May only');
  });

  it('is not stopped by the second half of a double click on Send', async () => {
    const store = fakeStore();
    show(store);
    type(box(), 'Why?');
    fireEvent.click(screen.getByRole('button', { name: 'Send' }));
    store.chat.running.value = true;
    const stop = await screen.findByRole<HTMLButtonElement>('button', { name: 'Stop' });
    expect(stop.disabled).toBe(true);
    stop.click();
    expect(store.asked('stop')).toEqual([]);
    await waitFor(() => expect(stop.disabled).toBe(false));
    fireEvent.click(stop);
    expect(store.asked('stop')).toHaveLength(1);
  });
});

describe('drafts and earlier messages', () => {
  it('keeps a draft for each chat', async () => {
    const store = fakeStore();
    store.setDraft('chat-2', 'half a question');
    show(store);
    type(box(), 'first');
    store.chat.id.value = 'chat-2';
    await waitFor(() => expect(box().value).toBe('half a question'));
    store.chat.id.value = 'chat-1';
    await waitFor(() => expect(box().value).toBe('first'));
  });

  it('keeps what was typed before the chat had its id', async () => {
    const store = fakeStore();
    store.chat.id.value = '';
    show(store);
    type(box(), 'early');
    store.chat.id.value = 'chat-9';
    await waitFor(() => expect(store.draft('chat-9')).toBe('early'));
    expect(box().value).toBe('early');
  });

  it('brings back own messages with ArrowUp in an empty box and returns with ArrowDown', () => {
    const store = fakeStore();
    store.chat.messages.value = [userMessage('one'), userMessage('two')];
    show(store);
    press(box(), 'ArrowUp');
    expect(box().value).toBe('two');
    press(box(), 'ArrowUp');
    expect(box().value).toBe('one');
    press(box(), 'ArrowUp');
    press(box(), 'ArrowDown');
    expect(box().value).toBe('two');
    press(box(), 'ArrowDown');
    expect(box().value).toBe('');
    type(box(), 'new words');
    expect(press(box(), 'ArrowUp')).toBe(false);
    expect(box().value).toBe('new words');
  });
});

describe('the @ picker', () => {
  const offering = (): FakeStore => {
    const store = fakeStore();
    store.selections.skills = async () =>
      Array.from({ length: 9 }, (_none, index) => ({ name: `skill-${index}`, label: `Skill ${index}` }));
    store.selections.connectors = async () => [{ server: 'github' }];
    return store;
  };

  it('goes down a level by Enter, filters by what is typed, and makes a chip', async () => {
    const store = offering();
    show(store);
    type(box(), 'Use @');
    expect(within(picker('Use in this message')).getAllByRole('option')).toHaveLength(2);
    press(box(), 'ArrowDown');
    press(box(), 'Enter');
    await within(picker('MCP servers')).findByRole('option', { name: /github/ });
    expect(box().getAttribute('aria-activedescendant')).toBe(screen.getByRole('option', { name: /github/ }).id);
    type(box(), 'Use @git');
    press(box(), 'Enter');
    expect(box().value).toBe('Use ');
    expect(within(screen.getByRole('list', { name: 'Attached' })).getByText('github')).toBeTruthy();
    type(box(), 'Use it');
    press(box(), 'Enter');
    expect(store.asked('send')[0][1]).toMatchObject({ connectors: [{ server: 'github' }] });
    expect(screen.queryByRole('list', { name: 'Attached' })).toBeNull();
  });

  it('goes up a level with Backspace and closes with Escape, which stays closed for this sign', () => {
    show(offering());
    type(box(), '@');
    press(box(), 'Enter');
    picker('Skills');
    press(box(), 'Backspace');
    picker('Use in this message');
    press(box(), 'Escape');
    expect(screen.queryByRole('listbox')).toBeNull();
    type(box(), '@s');
    expect(screen.queryByRole('listbox')).toBeNull();
    type(box(), '');
    type(box(), '@');
    picker('Use in this message');
  });

  it('opens no picker inside an e-mail address', () => {
    show(offering());
    type(box(), 'me@example');
    expect(screen.queryByRole('listbox')).toBeNull();
  });

  it('says so when there is nothing, or nothing of that name', async () => {
    const store = fakeStore();
    show(store);
    type(box(), '@');
    press(box(), 'Enter');
    await screen.findByText('There are no skills yet.');
    type(box(), '@abc');
    await screen.findByText('Nothing is called “abc”.');
  });

  it('refuses the ninth selection in words', async () => {
    const store = offering();
    show(store);
    for (let index = 0; index < 8; index++) {
      await pick(`@skill-${index}`);
    }
    expect(screen.getAllByRole('button', { name: /^Remove/ })).toHaveLength(8);
    await pick('@github');
    expect(notice()).toContain('At most 8');
    expect(screen.getAllByRole('button', { name: /^Remove/ })).toHaveLength(8);
  });

  it('removes chips by mouse and by keyboard, with the focus on a neighbour and then in the box', async () => {
    show(offering());
    await pick('@skill-1');
    await pick('@skill-2');
    const first = screen.getByRole('button', { name: 'Remove Skill 1' });
    first.focus();
    press(first, 'Delete');
    const second = screen.getByRole('button', { name: 'Remove Skill 2' });
    await waitFor(() => expect(document.activeElement).toBe(second));
    fireEvent.click(second);
    expect(screen.queryByRole('list', { name: 'Attached' })).toBeNull();
    expect(document.activeElement).toBe(box());
  });
});

describe('commands', () => {
  it('offers a list at the start of the text and runs the chosen one', () => {
    const store = fakeStore();
    show(store);
    type(box(), '/');
    expect(within(picker('Commands')).getAllByRole('option')).toHaveLength(5);
    type(box(), '/se');
    press(box(), 'Enter');
    expect(store.view.value).toBe('settings');
    expect(box().value).toBe('');
    expect(store.asked('send')).toEqual([]);
  });

  it('sends a path as it is', () => {
    const store = fakeStore();
    show(store);
    type(box(), '/home/ada is full');
    press(box(), 'Enter');
    expect(store.asked('send')[0][0]).toBe('/home/ada is full');
  });
});

describe('models', () => {
  it('are grouped by provider, with the error of a provider and the tiny one named as such', () => {
    show(fakeStore());
    const list = screen.getByRole('combobox', { name: 'Model' });
    within(within(list).getByRole('group', { name: 'Ollama' })).getByRole('option', { name: 'qwen3:8b' });
    const failed = within(within(list).getByRole('group', { name: 'API' })).getByRole<HTMLOptionElement>('option');
    expect(failed.disabled).toBe(true);
    expect(failed.textContent).toContain('refused');
    within(list).getByRole('option', { name: 'SmolLM2-135M (tiny model)' });
  });

  it('are chosen for this chat and asked for anew', () => {
    const store = fakeStore();
    show(store);
    fireEvent.change(screen.getByRole('combobox', { name: 'Model' }), { target: { value: 'ollama:gemma3:1b' } });
    type(box(), 'Why?');
    press(box(), 'Enter');
    expect(store.asked('send')[0][2]).toEqual({ provider: 'ollama', model: 'gemma3:1b' });
    fireEvent.click(screen.getByRole('button', { name: 'Refresh models' }));
    expect(store.asked('models.refresh')).toHaveLength(1);
  });
});

describe('context', () => {
  const choice = (label: string, load: () => Promise<string>): ContextChoice => ({ kind: 'cell', label, load });
  const notebook = (...choices: ContextChoice[]): Host => ({
    ...host,
    notebook: {
      available: () => true,
      insertBelow: async () => undefined,
      replaceCell: async () => undefined,
      context: async () => choices
    }
  });

  it('is chosen from a menu by keyboard and sent with the message', async () => {
    const store = fakeStore();
    show(
      store,
      notebook(
        choice('cell 12', async () => 'df.head()'),
        choice('cell 13', async () => 'x')
      )
    );
    fireEvent.click(screen.getByRole('button', { name: 'Attach context' }));
    const first = await screen.findByRole('menuitem', { name: /cell 12/ });
    await waitFor(() => expect(document.activeElement).toBe(first));
    press(first, 'ArrowDown');
    press(document.activeElement as Element, 'ArrowUp');
    fireEvent.click(first);
    await screen.findByRole('button', { name: 'Remove cell 12' });
    type(box(), 'Why?');
    press(box(), 'Enter');
    expect(store.asked('send')[0][1]).toMatchObject({
      context: [{ kind: 'cell', label: 'cell 12', text: 'df.head()' }]
    });
  });

  it('that is empty, too long or unreadable is refused in words', async () => {
    show(
      fakeStore(),
      notebook(
        choice('empty', async () => ''),
        choice('long', async () => 'x'.repeat(100_001)),
        choice('gone', () => Promise.reject(new Error('no')))
      )
    );
    for (const [label, words] of [
      ['empty', 'nothing to attach'],
      ['long', 'too long'],
      ['gone', 'cannot be read']
    ]) {
      fireEvent.click(screen.getByRole('button', { name: 'Attach context' }));
      fireEvent.click(await screen.findByRole('menuitem', { name: label }));
      await waitFor(() => expect(notice()).toContain(words));
    }
    expect(screen.queryByRole('list', { name: 'Attached' })).toBeNull();
  });

  it('of a picture is refused for a model that cannot see', async () => {
    const store = fakeStore();
    store.models.fallback.value = { provider: 'ollama', model: 'gemma3:1b' };
    show(store);
    const file = new File([new Uint8Array([1])], 'plot.png', { type: 'image/png' });
    fireEvent.paste(box(), { clipboardData: { files: [file], getData: () => '' } });
    await waitFor(() => expect(notice()).toBe('gemma3:1b cannot see pictures. Choose a model that can.'));
  });

  it('menu closes with Escape and gives the focus back', async () => {
    show(fakeStore());
    const button = screen.getByRole('button', { name: 'Attach context' });
    fireEvent.click(button);
    const item = await screen.findByRole('menuitem', { name: 'Picture…' });
    await waitFor(() => expect(document.activeElement).toBe(item));
    press(item, 'Escape');
    expect(screen.queryByRole('menu')).toBeNull();
    expect(document.activeElement).toBe(button);
  });
});
