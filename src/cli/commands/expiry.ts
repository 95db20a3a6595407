import type { Clock } from '../../lib/clock.ts';
import { DAY_MS, HOUR_MS } from '../../lib/durations.ts';
import { OperatorError } from '../../lib/operator-error.ts';

const UNIT_MS: Record<string, number> = { h: HOUR_MS, d: DAY_MS };
/** A hundred years. */
const LONGEST_MS = 36_500 * DAY_MS;

const DURATION = /^(\d{1,9})([hd])$/;
/** RFC 3339: a date, or a date and time with its offset. */
const TIME = /^(\d{4}-\d{2}-\d{2})(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2}))?$/;

/**
 * The time that `--expires` means: from now (`90d`, `12h`), or a date (its beginning, UTC) or time in ISO 8601. Throws
 * OperatorError for anything else, and for a time that has passed.
 */
export function parseExpiry(text: string, clock: Clock): Date {
  const now = clock.now().getTime();
  const at = fromNow(text, now) ?? absolute(text);
  if (at === undefined) {
    throw new OperatorError(
      `--expires takes a time from now like 90d or 12h, or a date like 2030-01-31 or 2030-01-31T12:00:00Z; not "${text}".`,
    );
  }
  if (at <= now) throw new OperatorError(`--expires ${text} is in the past.`);
  if (at - now > LONGEST_MS) throw new OperatorError(`--expires ${text} is more than a hundred years away.`);
  return new Date(at);
}

function fromNow(text: string, now: number): number | undefined {
  const [, count, unit] = DURATION.exec(text) ?? [];
  const unitMs = UNIT_MS[unit ?? ''];
  return unitMs === undefined ? undefined : now + Number(count) * unitMs;
}

function absolute(text: string): number | undefined {
  const [, day] = TIME.exec(text) ?? [];
  if (day === undefined || !isInCalendar(day)) return undefined;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : at;
}

/** Date.parse takes 30 February for 2 March. */
function isInCalendar(day: string): boolean {
  const parsed = new Date(`${day}T00:00:00Z`);
  return !Number.isNaN(parsed.getTime()) && parsed.toISOString().startsWith(day);
}
