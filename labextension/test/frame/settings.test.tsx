import { cleanup, fireEvent, render, screen, waitFor, within } from '@testing-library/preact';
import { afterEach, describe, expect, it } from 'vitest';
import { ApiError } from '../../src/transport';
import { addressProblem } from '../../src/views/settings/address';
import { SettingsView } from '../../src/views/settings/settings-view';
import { fakeStore, type FakeStore } from './fake-store';
import { type, type Within } from './keys';

afterEach(cleanup);

function show(store = fakeStore()): FakeStore {
  render(<SettingsView store={store} />);
  return store;
}
// The lists of models have groups, too, one per provider.
const section = (name: string): Within =>
  within(screen.getAllByRole('group', { name }).find(group => group.tagName !== 'OPTGROUP') ?? document.body);
const api = (): Within => section('Generic API');
const click = (where: Within, name: string): void => void fireEvent.click(where.getByRole('button', { name }));

describe('the API', () => {
  it('never shows the key, says that it is set, and replaces it', async () => {
    const store = show();
    const key = api().getByRole<HTMLInputElement>('textbox', { name: 'API key' });
    expect(key.value).toBe('');
    expect(api().getByText('Set. Type a new key to replace it.')).toBeTruthy();
    type(key, 'sk-new');
    click(api(), 'Save');
    await api().findByText('Saved');
    expect(store.asked('saveLlm')).toEqual([
      [{ openai_compatible: { base_url: 'https://api.example.com/v1', api_key: 'sk-new' } }]
    ]);
    expect(key.value).toBe('');
  });

  it('clears the key only when saved; until then Undo brings it back', async () => {
    const store = show();
    click(api(), 'Clear key');
    expect(api().getByText('The key is removed when you save.')).toBeTruthy();
    click(api(), 'Undo');
    expect(api().getByText('Set. Type a new key to replace it.')).toBeTruthy();
    expect(api().getByRole<HTMLButtonElement>('button', { name: 'Save' }).disabled).toBe(true);
    click(api(), 'Clear key');
    click(api(), 'Save');
    await api().findByText('Not set.');
    expect(store.asked('saveLlm')).toEqual([
      [{ openai_compatible: { base_url: 'https://api.example.com/v1', clear_api_key: true } }]
    ]);
  });

  it('says while typing that a changed address needs the key again, and does not save without it', () => {
    const store = show();
    type(api().getByRole('textbox', { name: 'Base URL' }), 'https://other.example.com/v1');
    const key = api().getByRole('textbox', { name: 'API key' });
    expect(key.getAttribute('aria-invalid')).toBe('true');
    expect(api().getByText(/The address changed, so enter the key again/)).toBeTruthy();
    click(api(), 'Save');
    expect(store.asked('saveLlm')).toEqual([]);
    expect(document.activeElement).toBe(key);
    type(key, 'sk-other');
    expect(key.getAttribute('aria-invalid')).toBeNull();
  });

  it('takes a slash at the end for no change', () => {
    show();
    type(api().getByRole('textbox', { name: 'Base URL' }), 'https://api.example.com/v1/');
    expect(api().getByRole<HTMLButtonElement>('button', { name: 'Save' }).disabled).toBe(true);
  });

  it('shows a demand of the server for the key at its field', async () => {
    const store = fakeStore();
    store.settings.saveLlm = () =>
      Promise.reject(new ApiError('key_required', 'The key has to be entered again.', 422));
    show(store);
    type(api().getByRole('textbox', { name: 'API key' }), 'x');
    click(api(), 'Save');
    await api().findByText('The key has to be entered again.');
    expect(api().getByRole('textbox', { name: 'API key' }).getAttribute('aria-invalid')).toBe('true');
  });

  it('tests without saving and says what was found', async () => {
    const store = show();
    click(api(), 'Test connection');
    await api().findByText('Connected; models found: 3.');
    expect(store.asked('testLlm')).toHaveLength(1);
    expect(store.asked('saveLlm')).toEqual([]);
  });

  it.each([
    [
      new ApiError('llm_auth', 'The API key was refused. Check the key.', 400),
      'The API key was refused. Check the key.'
    ],
    [new ApiError('bad_answer', '', 403), /signed out/],
    [new ApiError('bad_answer', '', 404), /server extension is enabled/],
    [new ApiError('bad_answer', '', 500), /server failed at this \(500\)/],
    [new ApiError('bad_answer', '', 200), /not from CashCode/],
    [new ApiError('unreachable', '', 0), /cannot be reached/]
  ])('says in place what %s means', async (error, words) => {
    const store = fakeStore();
    store.settings.testLlm = () => Promise.reject(error);
    show(store);
    click(api(), 'Test connection');
    expect((await api().findByRole('alert')).textContent).toMatch(words);
  });
});

describe('addresses', () => {
  it.each(['', 'https://api.example.com/v1', 'http://127.0.0.1:11434', ' http://[::1]:80/ '])('takes %j', text =>
    expect(addressProblem(text)).toBe('')
  );
  it.each(['localhost:1', 'ftp://a', 'http://', 'http://a b', 'https://u:p@a', 'https://a?x=1', 'https://a/#b'])(
    'refuses %j',
    text => expect(addressProblem(text)).not.toBe('')
  );
});

describe('Ollama, the starter and the default', () => {
  it('saves an address of Ollama', async () => {
    const store = show();
    const ollama = section('Ollama');
    type(ollama.getByRole('textbox', { name: 'Ollama address' }), 'http://gpu:11434');
    click(ollama, 'Save');
    await ollama.findByText('Saved');
    expect(store.asked('saveLlm')).toEqual([[{ ollama: { base_url: 'http://gpu:11434' } }]]);
  });

  it('tells the command of the starter and looks again', async () => {
    const store = show();
    const starter = section('Tiny built-in model');
    expect(starter.getByText('cashcode starter')).toBeTruthy();
    click(starter, 'Check again');
    await starter.findByText('Not there yet.');
    expect(store.asked('settings.refresh')).toHaveLength(1);
  });

  it('saves a default model', async () => {
    const store = show();
    fireEvent.change(screen.getByRole('combobox', { name: 'Default model' }), {
      target: { value: 'ollama:llava:7b' }
    });
    click(section('Default'), 'Save');
    await section('Default').findByText('Saved');
    expect(store.asked('saveLlm')).toEqual([[{ default: { provider: 'ollama', model: 'llava:7b' } }]]);
  });
});

describe('approvals', () => {
  it('changes a risk, removes an exception, and saves both', async () => {
    const store = show();
    const commands = await screen.findByRole('combobox', { name: 'Run commands and cells' });
    fireEvent.change(commands, { target: { value: 'deny' } });
    click(section('Approvals'), 'Remove the rule for web_fetch');
    click(section('Approvals'), 'Save');
    await section('Approvals').findByText('Saved');
    expect(store.asked('saveApprovals')).toEqual([
      [{ risks: { read: 'allow', write: 'ask', execute: 'deny', network: 'allow', memory: 'allow' }, tools: {} }]
    ]);
  });

  it('can start from the defaults when the rules cannot be read', async () => {
    const store = fakeStore();
    store.settings.approvals = () =>
      Promise.reject(new ApiError('storage', 'The approval rules cannot be read.', 507));
    show(store);
    await screen.findByText('The approval rules cannot be read.');
    fireEvent.click(screen.getByRole('button', { name: 'Start from the defaults' }));
    click(section('Approvals'), 'Save');
    await section('Approvals').findByText('Saved');
    expect(store.asked('saveApprovals')).toHaveLength(1);
  });
});

describe('the persona', () => {
  const box = (): Promise<HTMLTextAreaElement> => screen.findByRole('textbox', { name: 'Persona' });
  const conflict = async (store: FakeStore): Promise<Within> => {
    type(await box(), 'You are Ada.');
    store.changePersona('You are Bob.');
    click(section('Persona'), 'Save');
    return within(await screen.findByRole('alertdialog'));
  };

  it('is marked as built in, is saved, and returns to the built-in one after a question', async () => {
    show();
    type(await box(), 'You are Ada.');
    expect(section('Persona').getByText('Built-in')).toBeTruthy();
    click(section('Persona'), 'Save');
    await section('Persona').findByText('Saved');
    expect(section('Persona').queryByText('Built-in')).toBeNull();
    click(section('Persona'), 'Return to built-in');
    fireEvent.click(screen.getByRole('button', { name: 'Return' }));
    await section('Persona').findByText('The built-in persona is back.');
    expect((await box()).value).toBe('You are CashCode.');
  });

  it('changed elsewhere shows both versions and can keep mine', async () => {
    const store = show();
    const question = await conflict(store);
    expect(question.getByText('You are Ada.')).toBeTruthy();
    expect(question.getByText('You are Bob.')).toBeTruthy();
    click(question, 'Keep mine');
    await section('Persona').findByText('Saved');
    expect(store.asked('savePersona').at(-1)).toEqual(['You are Ada.', 'h:You are Bob.']);
    expect((await box()).value).toBe('You are Ada.');
  });

  it('changed elsewhere can take theirs', async () => {
    const store = show();
    click(await conflict(store), 'Take theirs');
    await waitFor(() => expect(screen.queryByRole('alertdialog')).toBeNull());
    expect((await box()).value).toBe('You are Bob.');
    expect(store.asked('savePersona')).toHaveLength(1);
  });

  it('that is too long is refused while typing', async () => {
    show();
    type(await box(), 'x'.repeat(70_000));
    expect(section('Persona').getByText('At most 64 KB; this has 69.')).toBeTruthy();
    expect(section('Persona').getByRole<HTMLButtonElement>('button', { name: 'Save' }).disabled).toBe(true);
  });
});
