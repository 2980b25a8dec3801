/** The settings of the server: where the models are, what needs the person's consent, who the agent is. */
import { batch, computed, signal, type ReadonlySignal } from '@preact/signals';
import type { Transport } from '../transport';
import { ofRequest } from './errors';
import type {
  ApprovalsView,
  ChatError,
  LlmBody,
  LlmView,
  ModelChoice,
  PersonaView,
  Settings,
  TestAnswer
} from './types';

export class ServerSettings implements Settings {
  readonly llm = signal<LlmView | undefined>(undefined);
  readonly status = signal<'loading' | 'ready' | 'failed'>('loading');
  readonly error = signal<ChatError | undefined>(undefined);
  /** The default model. */
  readonly fallback: ReadonlySignal<ModelChoice | undefined> = computed(() => this.llm.value?.default ?? undefined);

  private reading = 0;

  constructor(
    private readonly transport: Transport,
    private readonly onSaved: () => void
  ) {}

  async refresh(): Promise<void> {
    const reading = (this.reading += 1);
    if (this.status.peek() === 'failed') {
      this.status.value = 'loading';
    }
    try {
      const view = await this.transport.request<LlmView>('GET', 'settings/llm');
      if (reading === this.reading) {
        this.take(view);
      }
    } catch (error) {
      if (reading === this.reading) {
        batch(() => {
          this.error.value = ofRequest(error);
          this.status.value = 'failed';
        });
      }
    }
  }

  async saveLlm(body: LlmBody): Promise<LlmView> {
    const view = await this.transport.request<LlmView>('PUT', 'settings/llm', body);
    this.reading += 1; // an answer from before this is old
    this.take(view);
    this.onSaved();
    return view;
  }

  testLlm(body: LlmBody): Promise<TestAnswer> {
    return this.transport.request('POST', 'settings/llm/test', body);
  }

  approvals(): Promise<ApprovalsView> {
    return this.transport.request('GET', 'settings/approvals');
  }

  saveApprovals(view: ApprovalsView): Promise<ApprovalsView> {
    return this.transport.request('PUT', 'settings/approvals', view);
  }

  persona(): Promise<PersonaView> {
    return this.transport.request('GET', 'persona');
  }

  savePersona(text: string, expectedHash: string): Promise<PersonaView> {
    return this.transport.request('PUT', 'persona', { text, expected_hash: expectedHash });
  }

  private take(view: LlmView): void {
    batch(() => {
      this.llm.value = view;
      this.error.value = undefined;
      this.status.value = 'ready';
    });
  }
}
