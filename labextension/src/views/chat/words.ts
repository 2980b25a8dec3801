/** Numbers of a chat in words: durations, tokens, times. */
import { languageTag, t } from '../../i18n';

/** "12 ms", "4 s", "2 min", "2 min 5 s". */
export function durationWords(seconds: number): string {
  if (seconds < 0.9995) return t('{count} ms', { count: Math.max(1, Math.round(seconds * 1000)) });
  if (seconds < 10) return t('{count} s', { count: Number(seconds.toFixed(1)) });
  if (seconds < 60) return t('{count} s', { count: Math.round(seconds) });
  const whole = Math.round(seconds);
  const minutes = Math.floor(whole / 60);
  if (whole % 60 === 0) return t('{count} min', { count: minutes });
  return t('{minutes} min {seconds} s', { minutes, seconds: whole % 60 });
}

/** "840", "1.2k", "3.4M". */
export function tokenWords(count: number): string {
  if (count < 1_000) return String(count);
  if (count < 999_500) return `${short(count / 1_000)}k`;
  return `${short(count / 1_000_000)}M`;
}

const short = (value: number): string => (value < 100 ? value.toFixed(1).replace(/\.0$/, '') : value.toFixed(0));

/** A moment as "14:02" today, else with its day; undefined when it is no moment. */
export function timeWords(at: string, now = new Date()): string | undefined {
  const moment = new Date(at.replace(/^(\d{4}-\d\d-\d\d) (\d)/, '$1T$2'));
  if (Number.isNaN(moment.getTime())) return undefined;
  const today = moment.toDateString() === now.toDateString();
  const day: Intl.DateTimeFormatOptions = today ? {} : { month: 'short', day: 'numeric' };
  return moment.toLocaleString(languageTag(), { hour: '2-digit', minute: '2-digit', hour12: false, ...day });
}
