/** "3 minutes ago" in the panel's language; a date once it is more than a week. */
import { languageTag, t } from '../../i18n';

const STEPS: readonly [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60]
];

export function relativeTime(iso: string, now = Date.now()): string {
  const then = Date.parse(iso);
  if (Number.isNaN(then)) {
    return '';
  }
  const seconds = (now - then) / 1000;
  if (seconds < 60) {
    return t('just now'); // a clock that is a little ahead is no reason for "in 3 seconds"
  }
  if (seconds > 7 * 86_400) {
    const sameYear = new Date(then).getFullYear() === new Date(now).getFullYear();
    return new Date(then).toLocaleDateString(languageTag(), {
      day: 'numeric',
      month: 'short',
      year: sameYear ? undefined : 'numeric'
    });
  }
  const [unit, size] = STEPS.find(([, length]) => seconds >= length) ?? STEPS[2];
  return new Intl.RelativeTimeFormat(languageTag(), { numeric: 'auto', style: 'short' }).format(
    -Math.floor(seconds / size),
    unit
  );
}

export function exactTime(iso: string): string {
  const then = Date.parse(iso);
  return Number.isNaN(then) ? '' : new Date(then).toLocaleString(languageTag());
}
