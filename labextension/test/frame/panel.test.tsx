import { signal } from '@preact/signals';
import { cleanup, fireEvent, render, screen, waitFor, within } from '@testing-library/preact';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Host } from '../../src/host';
import { setLanguage } from '../../src/i18n';
import { ApiError } from '../../src/transport';
import { Panel } from '../../src/views/panel';
import { BARE, CONFIGURED, fakeStore, userMessage, type FakeStore } from './fake-store';
import { press, type, type Within } from './keys';

vi.mock('../../src/views/chat/chat-view', () => ({ ChatView: () => <div>the messages</div> }));

afterEach(() => {
  cleanup();
  setLanguage('en');
});

const host: Host = { kind: 'sidebar', language: 'en' };
function show(store = fakeStore(), where: Host = host): FakeStore {
  render(<Panel store={store} host={where} />);
  return store;
}
const box = (): HTMLElement => screen.getByRole('textbox', { name: 'Message CashCode' });
const click = (name: string): void => void fireEvent.click(screen.getByRole('button', { name }));
const pressed = (name: string): string | null => screen.getByRole('button', { name }).getAttribute('aria-pressed');

describe('views', () => {
  it('take each other’s place, with the region, the pressed button and the focus', async () => {
    const store = show();
    screen.getByRole('region', { name: 'CashCode chat' });
    box().focus();
    click('Settings');
    await screen.findByRole('region', { name: 'CashCode settings' });
    expect(pressed('Settings')).toBe('true');
    expect(pressed('Chats')).toBe('false');
    expect(screen.queryByRole('textbox', { name: 'Message CashCode' })).toBeNull();
    await waitFor(() =>
      expect(document.activeElement).toBe(screen.getByRole('button', { name: 'Back to the chat' }))
    );
    click('Back to the chat');
    await waitFor(() => expect(document.activeElement).toBe(box()));
    expect(store.view.value).toBe('chat');
    click('Chats');
    await screen.findByText('There are no chats yet.');
    press(document.activeElement as Element, 'Escape');
    await waitFor(() => expect(document.activeElement).toBe(box()));
  });

  it('do not take the focus from somewhere else on the page', async () => {
    const elsewhere = document.body.appendChild(document.createElement('input'));
    const store = show();
    elsewhere.focus();
    store.view.value = 'chats';
    await screen.findByText('There are no chats yet.');
    expect(document.activeElement).toBe(elsewhere);
    elsewhere.remove();
  });

  it('keep what was typed in the settings', async () => {
    show();
    click('Settings');
    type(await screen.findByRole('textbox', { name: 'Base URL' }), 'https://half');
    click('Chats');
    await screen.findByText('There are no chats yet.');
    click('Settings');
    const field = await screen.findByRole<HTMLInputElement>('textbox', { name: 'Base URL' });
    expect(field.value).toBe('https://half');
  });
});

describe('the header', () => {
  it('renames the chat in place, by button and by a click on the title, and says what failed', async () => {
    const store = fakeStore();
    store.chat.messages.value = [userMessage('Hello')];
    show(store);
    click('Rename chat');
    const field = screen.getByRole('textbox', { name: 'Chat title' });
    fireEvent.input(field, { target: { value: 'Sales' } });
    press(field, 'Enter');
    expect(store.asked('chats.rename')).toEqual([['chat-1', 'Sales']]);
    store.chats.rename = () => Promise.reject(new ApiError('not_found', 'There is no such chat.', 404));
    fireEvent.click(await screen.findByRole('heading', { name: 'Clean the sales table' }));
    const again = screen.getByRole('textbox', { name: 'Chat title' });
    fireEvent.input(again, { target: { value: 'Other' } });
    fireEvent.blur(again);
    await screen.findByText('There is no such chat.');
  });

  it('has nothing to rename in a chat that was not begun', () => {
    show();
    expect(screen.queryByRole('button', { name: 'Rename chat' })).toBeNull();
  });

  it('opens the chat as a tab where the host can', () => {
    const opened: string[] = [];
    show(fakeStore(), { ...host, openInMain: id => void opened.push(id) });
    click('Open as a tab');
    expect(opened).toEqual(['chat-1']);
  });

  it('starts a new chat', () => {
    const store = show();
    click('New chat');
    expect(store.asked('newChat')).toHaveLength(1);
  });
});

describe('the connection', () => {
  it('is silent while it is there; when it is lost it is said, and after a while it can be made again', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const store = show();
      const status = screen.getByRole('status', { name: 'Connection' });
      expect(status.textContent).toBe('');
      store.connection.value = 'lost';
      await vi.advanceTimersByTimeAsync(100);
      expect(status.textContent).toBe('Reconnecting…');
      expect(screen.queryByRole('button', { name: 'Connect now' })).toBeNull();
      await vi.advanceTimersByTimeAsync(5000);
      click('Connect now');
      expect(store.asked('reconnect')).toHaveLength(1);
      store.connection.value = 'open';
      await vi.advanceTimersByTimeAsync(100);
      expect(status.textContent).toBe('');
    } finally {
      vi.useRealTimers();
    }
  });

  it('says why, when that is known', async () => {
    const store = show();
    store.connectionProblem.value = 'You are signed out.';
    store.connection.value = 'lost';
    await screen.findByText('You are signed out.');
  });
});

describe('a view that breaks', () => {
  it('says so and can be loaded again, and the rest goes on', async () => {
    const noise = vi.spyOn(console, 'error').mockImplementation(() => undefined);
    const store = fakeStore();
    let broken = true;
    const running = signal(false);
    Object.defineProperty(store.chat, 'running', {
      get() {
        if (broken) {
          throw new Error('defect');
        }
        return running;
      }
    });
    show(store);
    expect((await screen.findByRole('alert')).textContent).toContain('This view failed to show.');
    screen.getByText('the messages');
    broken = false;
    click('Reload');
    expect(await screen.findByRole('textbox', { name: 'Message CashCode' })).toBeTruthy();
    expect(noise).toHaveBeenCalled();
  });
});

describe('the first run', () => {
  const card = (name: string): Within => within(screen.getByRole('group', { name }));
  const bare = (): FakeStore => show(fakeStore(BARE));

  it('is shown instead of the messages until there is a model', () => {
    bare();
    screen.getByRole('heading', { name: 'Connect a model' });
    expect(screen.queryByText('the messages')).toBeNull();
    cleanup();
    show(fakeStore(CONFIGURED));
    screen.getByText('the messages');
  });

  it('looks for Ollama by itself and connects with one press, then the box has the focus', async () => {
    const store = bare();
    await card('Connect Ollama').findByText('Connected; models found: 3.');
    expect(store.asked('testLlm')[0]).toEqual([{ ollama: { base_url: 'http://127.0.0.1:11434' } }]);
    fireEvent.click(card('Connect Ollama').getByRole('button', { name: /Connect/ }));
    await screen.findByText('the messages');
    expect(store.asked('saveLlm')).toEqual([
      [{ ollama: { base_url: 'http://127.0.0.1:11434' } }],
      [{ default: { provider: 'ollama', model: 'qwen3:8b' } }]
    ]);
    await waitFor(() => expect(document.activeElement).toBe(box()));
    screen.getByText('Connected, 3 models: qwen3:8b answers now. Choose another below.');
  });

  it('says quietly that there is no Ollama when nobody asked, and as an error when somebody did', async () => {
    const store = fakeStore(BARE);
    store.settings.testLlm = () =>
      Promise.reject(new ApiError('llm_unreachable', 'Nothing answers at this address.', 400));
    show(store);
    const ollama = card('Connect Ollama');
    await waitFor(() => expect(ollama.getByRole('status').textContent).toBe('Ollama does not answer here.'));
    expect(ollama.queryByRole('alert')).toBeNull();
    fireEvent.click(ollama.getByRole('button', { name: 'Test connection' }));
    expect((await ollama.findByRole('alert')).textContent).toBe('Nothing answers at this address.');
  });

  it('says what the test of an API found, in its card, and keeps what was typed', async () => {
    const store = fakeStore(BARE);
    store.settings.testLlm = () =>
      Promise.reject(new ApiError('llm_auth', 'The API key was refused. Check the key.', 400));
    show(store);
    const url = card('Connect an API').getByRole<HTMLInputElement>('textbox', { name: 'Base URL' });
    const key = card('Connect an API').getByRole('textbox', { name: 'API key' });
    type(url, 'https://api.example.com/v1');
    type(key, 'sk-wrong');
    fireEvent.change(key);
    await card('Connect an API').findByText('The API key was refused. Check the key.');
    expect(url.value).toBe('https://api.example.com/v1');
  });

  it('says when a connection has no models', async () => {
    const store = fakeStore(BARE);
    store.models.rows.value = [];
    store.models.providers.value = {};
    show(store);
    await card('Connect Ollama').findByText('Connected; models found: 3.');
    fireEvent.click(card('Connect Ollama').getByRole('button', { name: /Connect/ }));
    await card('Connect Ollama').findByText('Connected, but there are no models. Install one, then try again.');
  });

  it('tells the command for the tiny model and takes it once it is there', async () => {
    const store = bare();
    const tiny = card('Try the tiny built-in model');
    expect(tiny.getByText('cashcode starter')).toBeTruthy();
    store.settings.refresh = async () => {
      store.settings.llm.value = { ...BARE, configured: true, starter: { ready: true, model: 'SmolLM2-135M' } };
    };
    fireEvent.click(tiny.getByRole('button', { name: 'Check again' }));
    fireEvent.click(await tiny.findByRole('button', { name: 'Use it' }));
    await screen.findByText('the messages');
    expect(store.asked('saveLlm')).toEqual([[{ default: { provider: 'starter', model: 'SmolLM2-135M' } }]]);
  });

  it('says why the settings cannot be read, beside the messages', () => {
    const store = fakeStore();
    store.settings.llm.value = undefined;
    store.settings.status.value = 'failed';
    store.settings.error.value = { code: 'bad_answer', detail: '', retryable: true };
    show(store);
    screen.getByText('the messages');
    fireEvent.click(within(screen.getByRole('alert')).getByRole('button', { name: 'Retry' }));
    expect(store.asked('settings.refresh')).toHaveLength(1);
  });
});
