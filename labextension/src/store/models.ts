/** Which models there are, asked of every provider that is set up. */
import { batch, signal, type ReadonlySignal } from '@preact/signals';
import type { Transport } from '../transport';
import { ofRequest } from './errors';
import type { ChatError, ModelChoice, ModelRow, Models, Provider, ProviderState } from './types';

interface Discovered {
  models: { provider: Provider; id: string; context_window?: number | null; vision?: boolean | null }[];
  providers: Partial<Record<Provider, ProviderState>>;
}

export class ModelList implements Models {
  readonly rows = signal<ModelRow[]>([]);
  readonly providers = signal<Partial<Record<Provider, ProviderState>>>({});
  readonly status = signal<'loading' | 'ready' | 'failed'>('loading');
  readonly error = signal<ChatError | undefined>(undefined);

  private reading = 0;

  constructor(
    private readonly transport: Transport,
    readonly fallback: ReadonlySignal<ModelChoice | undefined>
  ) {}

  async refresh(): Promise<void> {
    const reading = (this.reading += 1);
    if (this.status.peek() === 'failed') {
      this.status.value = 'loading';
    }
    try {
      const found = await this.transport.request<Discovered>('GET', 'settings/llm/models');
      if (reading === this.reading) {
        batch(() => {
          this.rows.value = (found.models ?? []).map(row => ({
            provider: row.provider,
            model: row.id,
            ...(row.context_window != null && { contextWindow: row.context_window }),
            ...(row.vision != null && { vision: row.vision })
          }));
          this.providers.value = found.providers ?? {};
          this.error.value = undefined;
          this.status.value = 'ready';
        });
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
}
