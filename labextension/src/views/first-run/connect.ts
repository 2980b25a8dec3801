/** Connect a model in one go: save the profile, see what is there, make one of the models the default. */
import { t, tn } from '../../i18n';
import type { LlmBody, ModelRow, Provider, Store } from '../../store/types';
import { ApiError } from '../../transport';

/** Models that answer no chat; every large API lists some of them. */
const NOT_FOR_CHAT =
  /embed|whisper|tts|dall-?e|moderation|image|audio|realtime|transcri|rerank|babbage|davinci|sora|ocr/i;
/** Newer families first; the first model that fits is a start, not a judgement. */
const GOOD_STARTS: readonly RegExp[] = [
  /claude/i,
  /^gpt-5/i,
  /^gpt-4/i,
  /deepseek-chat/i,
  /qwen3/i,
  /gemini/i,
  /llama/i
];

export function startModel(rows: ModelRow[]): ModelRow | undefined {
  const able = rows.filter(row => !NOT_FOR_CHAT.test(row.model));
  const known = GOOD_STARTS.flatMap(family => able.filter(row => family.test(row.model)));
  return known[0] ?? able[0] ?? rows[0];
}

/** Gives the sentence of success; rejects with `ApiError`. */
export async function connect(store: Store, provider: Provider, body: LlmBody | undefined): Promise<string> {
  if (body) {
    await store.settings.saveLlm(body);
  }
  await store.models.refresh();
  const rows = store.models.rows.value.filter(row => row.provider === provider);
  const first = startModel(rows);
  if (!first) {
    const reason = store.models.providers.value[provider]?.error ?? store.models.error.value?.detail;
    throw new ApiError(
      'no_models',
      reason ?? t('Connected, but there are no models. Install one, then try again.'),
      0
    );
  }
  await store.settings.saveLlm({ default: { provider, model: first.model } });
  await store.models.refresh();
  return tn(
    'Connected, {count} model: {model} answers now.',
    'Connected, {count} models: {model} answers now. Choose another below.',
    rows.length,
    { model: first.model }
  );
}
