/** A store made by hand: a test sets its signals and reads what the views asked of it. */
import { signal } from '@preact/signals';
import type {
  ApprovalsView,
  Chat,
  ChatError,
  ChatMessage,
  ChatRow,
  ConnectorRow,
  LlmBody,
  LlmView,
  ModelChoice,
  ModelRow,
  PersonaView,
  Provider,
  ProviderState,
  SkillRow,
  Store,
  TestAnswer,
  View
} from '../../src/store/types';
import { ApiError } from '../../src/transport';

export const CONFIGURED: LlmView = {
  configured: true,
  openai_compatible: { base_url: 'https://api.example.com/v1', ready: true, api_key_configured: true },
  ollama: { base_url: 'http://127.0.0.1:11434', ready: true },
  starter: { ready: false, model: null },
  default: { provider: 'ollama', model: 'qwen3:8b' }
};
export const BARE: LlmView = {
  configured: false,
  openai_compatible: { base_url: '', ready: false, api_key_configured: false },
  ollama: { base_url: '', ready: false },
  starter: { ready: false, model: null },
  default: null
};

export function userMessage(content: string): ChatMessage {
  return {
    role: 'user',
    key: content,
    content,
    context: [],
    skills: [],
    connectors: [],
    state: signal<'sending' | 'queued' | 'sent' | 'unsent'>('sent'),
    steer: signal(false)
  };
}

export type FakeStore = ReturnType<typeof fakeStore>;

export function fakeStore(llm: LlmView | undefined = CONFIGURED) {
  const calls: unknown[][] = [];
  const drafts = new Map<string, string>();
  const said =
    (name: string) =>
    (...given: unknown[]): void => {
      calls.push([name, ...given]);
    };
  const ready = (): 'loading' | 'ready' | 'failed' => 'ready';
  const chat = {
    id: signal('chat-1'),
    title: signal('Clean the sales table'),
    messages: signal<ChatMessage[]>([]),
    status: signal(ready()),
    loadError: signal<ChatError | undefined>(undefined),
    running: signal(false),
    problem: signal<ChatError | undefined>(undefined),
    older: signal<'none' | 'some' | 'loading' | 'failed'>('none'),
    model: signal<ModelChoice | undefined>(undefined),
    send: (...given: unknown[]): boolean => {
      calls.push(['send', ...given]);
      return true;
    },
    resend: said('resend'),
    stop: said('stop'),
    decide: said('decide'),
    retry: said('retry'),
    loadOlder: async () => said('loadOlder')(),
    reload: async () => said('reload')(),
    fullResult: async () => ''
  } satisfies Chat;
  const chats = {
    rows: signal<ChatRow[]>([]),
    status: signal(ready()),
    error: signal<ChatError | undefined>(undefined),
    more: signal(false),
    refresh: async () => said('chats.refresh')(),
    loadMore: async () => said('chats.loadMore')(),
    rename: async (...given: unknown[]) => said('chats.rename')(...given),
    remove: async (chatId: string) => {
      said('chats.remove')(chatId);
      chats.rows.value = chats.rows.value.filter(row => row.chatId !== chatId);
    }
  };
  const models = {
    rows: signal<ModelRow[]>([
      { provider: 'ollama', model: 'qwen3:8b' },
      { provider: 'ollama', model: 'llava:7b', vision: true },
      { provider: 'ollama', model: 'gemma3:1b', vision: false },
      { provider: 'starter', model: 'SmolLM2-135M' }
    ]),
    providers: signal<Partial<Record<Provider, ProviderState>>>({
      ollama: { ready: true },
      openai_compatible: { ready: false, error: 'The API key was refused. Check the key.' }
    }),
    status: signal(ready()),
    error: signal<ChatError | undefined>(undefined),
    fallback: signal<ModelChoice | undefined>(llm?.default ?? undefined),
    refresh: async () => said('models.refresh')()
  };
  const view = signal<LlmView | undefined>(llm);
  let approvals: ApprovalsView = {
    risks: { read: 'allow', write: 'ask', execute: 'ask', network: 'allow', memory: 'allow' },
    tools: { web_fetch: 'deny' }
  };
  /** What the server holds; `hash` is its length here. */
  const persona = { text: 'You are CashCode.', builtin: true };
  const personaView = (): PersonaView => ({ ...persona, hash: `h:${persona.text}` });
  const settings = {
    llm: view,
    status: signal(ready()),
    error: signal<ChatError | undefined>(undefined),
    refresh: async () => said('settings.refresh')(),
    saveLlm: async (body: LlmBody): Promise<LlmView> => {
      said('saveLlm')(body);
      const now = view.value ?? BARE;
      const { openai_compatible: api, ollama } = body;
      view.value = {
        ...now,
        configured: true,
        ...(api && {
          openai_compatible: {
            base_url: api.base_url,
            ready: api.base_url !== '',
            api_key_configured: api.api_key
              ? true
              : api.clear_api_key
                ? false
                : now.openai_compatible.api_key_configured
          }
        }),
        ...(ollama && { ollama: { base_url: ollama.base_url, ready: true } }),
        ...(body.default && { default: body.default })
      };
      models.fallback.value = view.value.default ?? undefined;
      return view.value;
    },
    testLlm: async (body: LlmBody): Promise<TestAnswer> => {
      said('testLlm')(body);
      return { success: true, provider: 'ollama', model_count: 3, message: 'Connected; models found: 3.' };
    },
    approvals: async () => approvals,
    saveApprovals: async (next: ApprovalsView) => {
      said('saveApprovals')(next);
      approvals = next;
      return next;
    },
    persona: async () => personaView(),
    savePersona: async (text: string, hash: string): Promise<PersonaView> => {
      said('savePersona')(text, hash);
      if (hash !== personaView().hash) {
        throw new ApiError('conflict', 'The text was changed meanwhile.', 409, {
          current_hash: personaView().hash
        });
      }
      Object.assign(persona, text ? { text, builtin: false } : { text: 'You are CashCode.', builtin: true });
      return personaView();
    }
  };
  const selections = {
    skills: async (): Promise<SkillRow[]> => [],
    connectors: async (): Promise<ConnectorRow[]> => []
  };
  const store = {
    connection: signal<'connecting' | 'open' | 'lost'>('open'),
    connectionProblem: signal<string | undefined>(undefined),
    chat,
    chats,
    models,
    settings,
    selections,
    view: signal<View>('chat'),
    openChat: said('openChat'),
    newChat: said('newChat'),
    reconnect: said('reconnect'),
    draft: (chatId: string) => drafts.get(chatId) ?? '',
    setDraft: (chatId: string, text: string) => void drafts.set(chatId, text),
    dispose: said('dispose')
  } satisfies Store;
  return {
    ...store,
    calls,
    /** What was asked under this name. */
    asked: (name: string): unknown[][] => calls.filter(call => call[0] === name).map(call => call.slice(1)),
    /** Somebody else changes SOUL.md. */
    changePersona: (text: string) => void Object.assign(persona, { text, builtin: false })
  };
}
