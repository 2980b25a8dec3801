import { cleanup, fireEvent, render, screen, waitFor, within } from '@testing-library/preact';
import { afterEach, describe, expect, it } from 'vitest';
import { ApiError } from '../../src/transport';
import { relativeTime } from '../../src/views/chats/relative-time';
import { ChatsView } from '../../src/views/chats/chats-view';
import { fakeStore, type FakeStore } from './fake-store';
import { press, type } from './keys';

afterEach(cleanup);

function show(): FakeStore {
  const store = fakeStore();
  store.view.value = 'chats';
  store.chats.rows.value = [
    { chatId: 'a', title: 'Clean the sales table', updatedAt: new Date().toISOString(), running: true },
    { chatId: 'b', title: 'Plot the residuals', updatedAt: '2020-01-02T10:00:00+00:00', running: false }
  ];
  render(<ChatsView store={store} />);
  return store;
}
const list = (): HTMLElement => screen.getByRole('list', { name: 'Chats' });
const line = (title: string): HTMLElement => within(list()).getByRole('button', { name: new RegExp(title) });

describe('the list of chats', () => {
  it('is asked for when it is shown, marks what runs, and opens a chat', () => {
    const store = show();
    expect(store.asked('chats.refresh')).toHaveLength(1);
    expect(within(line('Clean')).getByText('running')).toBeTruthy();
    fireEvent.click(line('Plot'));
    expect(store.asked('openChat')).toEqual([['b']]);
    expect(store.view.value).toBe('chat');
  });

  it('searches titles, says how many there are, and offers a way out of an empty search', () => {
    show();
    const search = screen.getByRole('searchbox', { name: 'Search chats' });
    type(search, 'PLOT');
    expect(within(list()).getAllByRole('listitem')).toHaveLength(1);
    expect(screen.getByRole('status').textContent).toBe('1 chat');
    type(search, 'nothing like it');
    expect(screen.getByText('No title has “nothing like it” in it.')).toBeTruthy();
    fireEvent.click(screen.getByRole('button', { name: 'Clear search' }));
    expect(within(list()).getAllByRole('listitem')).toHaveLength(2);
  });

  it('moves with the arrows between search and lines', () => {
    show();
    const search = screen.getByRole('searchbox', { name: 'Search chats' });
    search.focus();
    press(search, 'ArrowDown');
    expect(document.activeElement).toBe(line('Clean'));
    press(line('Clean'), 'ArrowDown');
    expect(document.activeElement).toBe(line('Plot'));
    press(line('Plot'), 'ArrowUp');
    press(line('Clean'), 'ArrowUp');
    expect(document.activeElement).toBe(search);
  });

  it('renames in place; Escape and a blank title change nothing', async () => {
    const store = show();
    press(line('Plot'), 'F2');
    const box = screen.getByRole<HTMLInputElement>('textbox', { name: 'Chat title' });
    expect(box.value).toBe('Plot the residuals');
    fireEvent.input(box, { target: { value: 'Residuals' } });
    press(box, 'Enter');
    expect(store.asked('chats.rename')).toEqual([['b', 'Residuals']]);
    for (const [value, key] of [
      ['Other', 'Escape'],
      ['  ', 'Enter']
    ]) {
      fireEvent.click(
        within(line('Plot').closest('li') as HTMLElement).getByRole('button', { name: 'Rename chat' })
      );
      const again = screen.getByRole('textbox', { name: 'Chat title' });
      fireEvent.input(again, { target: { value } });
      press(again, key);
    }
    await waitFor(() => expect(line('Plot')).toBeTruthy());
    expect(store.asked('chats.rename')).toHaveLength(1);
  });

  it('deletes after a question that names the chat and starts on Cancel', async () => {
    const store = show();
    press(line('Plot'), 'Delete');
    const question = screen.getByRole('alertdialog', {
      name: 'Delete the chat “Plot the residuals”? This cannot be undone.'
    });
    expect(document.activeElement).toBe(within(question).getByRole('button', { name: 'Cancel' }));
    press(document.activeElement as Element, 'Escape');
    expect(screen.queryByRole('alertdialog')).toBeNull();
    fireEvent.click(screen.getAllByRole('button', { name: 'Delete chat' })[1]);
    fireEvent.click(screen.getByRole('button', { name: 'Delete' }));
    await waitFor(() => expect(within(list()).getAllByRole('listitem')).toHaveLength(1));
    expect(store.asked('chats.remove')).toEqual([['b']]);
    expect(document.activeElement).toBe(screen.getByRole('searchbox'));
  });

  it('says at the line when a deletion failed', async () => {
    const store = show();
    store.chats.remove = () => Promise.reject(new ApiError('storage', 'The disk is full.', 507));
    fireEvent.click(screen.getAllByRole('button', { name: 'Delete chat' })[1]);
    fireEvent.click(screen.getByRole('button', { name: 'Delete' }));
    await screen.findByText('The disk is full.');
    expect(within(list()).getAllByRole('listitem')).toHaveLength(2);
  });

  it('has a state for loading, for nothing, for failure and for more', async () => {
    const store = show();
    store.chats.rows.value = [];
    store.chats.status.value = 'loading';
    await screen.findByRole('status', { name: 'Loading chats…' });
    store.chats.status.value = 'ready';
    await screen.findByText('There are no chats yet.');
    store.chats.status.value = 'failed';
    store.chats.error.value = { code: 'bad_answer', detail: '', retryable: true };
    fireEvent.click(within(await screen.findByRole('alert')).getByRole('button', { name: 'Retry' }));
    expect(store.asked('chats.refresh')).toHaveLength(2);
    store.chats.status.value = 'ready';
    store.chats.more.value = true;
    fireEvent.click(await screen.findByRole('button', { name: 'Load more' }));
    expect(store.asked('chats.loadMore')).toHaveLength(1);
  });
});

describe('relative times', () => {
  const now = Date.parse('2026-05-10T12:00:00Z');
  it.each([
    ['2026-05-10T12:00:03Z', 'just now'],
    ['2026-05-10T11:18:00Z', '42 min. ago'],
    ['2026-05-10T07:00:00Z', '5 hr. ago'],
    ['2026-05-09T11:00:00Z', 'yesterday'],
    ['2026-04-01T12:00:00Z', 'Apr 1'],
    ['2024-04-01T12:00:00Z', 'Apr 1, 2024'],
    ['never', '']
  ])('%s is %s', (iso, words) => expect(relativeTime(iso, now)).toBe(words));
});
