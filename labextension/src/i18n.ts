/**
 * Every string that people read: `t('Send')`, `t('{count} tokens', { count })`, with a literal as first argument,
 * so that the catalogue can be checked. English is the key; a language without a sentence shows English.
 */
import zhChat from './locale/zh_CN/chat.json';
import zhComposer from './locale/zh_CN/composer.json';
import zhCore from './locale/zh_CN/core.json';
import zhHost from './locale/zh_CN/host.json';
import zhSettings from './locale/zh_CN/settings.json';

type Catalogue = Readonly<Record<string, string>>;
type Values = Readonly<Record<string, string | number>>;

const CATALOGUES: Readonly<Record<string, Catalogue>> = {
  zh: { ...zhCore, ...zhChat, ...zhComposer, ...zhSettings, ...zhHost }
};

let catalogue: Catalogue = {};
let tag = 'en';

/** Choose by a BCP 47 or POSIX tag ("zh-CN", "zh_CN.UTF-8"); unknown ones mean English. */
export function setLanguage(language: string): void {
  const [base] = language.toLowerCase().split(/[-_.]/);
  catalogue = CATALOGUES[base] ?? {};
  tag = base in CATALOGUES ? 'zh-CN' : 'en';
}

/** The tag for `Intl` and for the `lang` attribute. */
export const languageTag = (): string => tag;

export function t(sentence: string, values: Values = {}): string {
  return fill(catalogue[sentence] ?? sentence, values);
}

/** As `t` where English has two forms; the catalogue's key is the plural one. `{count}` is filled by itself. */
export function tn(one: string, many: string, count: number, values: Values = {}): string {
  const sentence = catalogue[many] ?? (count === 1 ? one : many);
  return fill(sentence, { count: count.toLocaleString(tag), ...values });
}

function fill(sentence: string, values: Values): string {
  return sentence.replace(/\{(\w+)\}/g, (hole, name: string) => String(values[name] ?? hole));
}
