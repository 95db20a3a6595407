import { MINUTE_MS } from '../../../lib/durations.ts';
import type { PhpEntry, PhpLevel } from '../../contract/logs.ts';

/** PHP begins each message with `[31-Jan-2026 09:30:00 UTC] `. */
const START = /^\[(\d{2})-([A-Z][a-z]{2})-(\d{4}) (\d{2}:\d{2}:\d{2}) ([\w/+:-]{1,64})\] /;
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** Processes write beside each other. */
const DISORDER_MS = MINUTE_MS;

/** The first fitting one counts. */
const LEVELS: readonly [prefix: RegExp, level: PhpLevel][] = [
  [/^PHP (Fatal|Parse|Core|Compile|Recoverable fatal|Catchable fatal) error: /, 'error'],
  [/^PHP ((User|Core|Compile) )?Warning: /i, 'warning'],
  [/^PHP (User )?(Notice|Strict Standards): /i, 'notice'],
  [/^PHP (User )?Deprecated: /i, 'deprecated'],
];

/**
 * The messages in a part of PHP's log, and the bytes that they take. Lines without a time continue the message before. The last message
 * may continue, so it is left for the next reading unless `isEnd`. Times never fall and never pass `now` (milliseconds), whatever the
 * website wrote. Messages of a restored log are older than `after`, and were read before.
 */
export function parsePhpLog(
  part: Buffer,
  { after, now, isEnd }: { after: number; now: number; isEnd: boolean },
): { entries: PhpEntry[]; bytes: number } {
  const whole = part.subarray(0, part.lastIndexOf(0x0a) + 1);
  const messages: { start: number; time: number | null; lines: string[] }[] = [];
  let start = 0;
  while (start < whole.length) {
    const end = whole.indexOf(0x0a, start);
    const line = whole.toString('utf8', start, end);
    const found = START.exec(line);
    if (found !== null) messages.push({ start, time: timeOf(found), lines: [line.slice(found[0].length)] });
    else if (messages.length === 0) messages.push({ start, time: null, lines: [line] });
    else messages.at(-1)?.lines.push(line);
    start = end + 1;
  }
  const last = messages.at(-1);
  // A message that fills the whole part is cut.
  const isLeft = !isEnd && last !== undefined && messages.length > 1;
  const read = isLeft ? messages.slice(0, -1) : messages;
  // A clock that was ahead says nothing.
  const known = after <= now ? after - DISORDER_MS : 0;
  let latest = after;
  const entries = read
    .filter(({ time }) => time === null || time >= known)
    .map(({ time, lines }): PhpEntry => {
      latest = Math.max(latest, Math.min(time ?? now, now));
      const message = lines.join('\n').trimEnd();
      return { time: new Date(latest).toISOString(), level: levelOf(message), message };
    });
  return { entries, bytes: isLeft ? last.start : whole.length };
}

/** Null for other time zones: the time of reading is close enough. */
function timeOf([, day, month = '', year, time, zone]: RegExpExecArray): number | null {
  const number = MONTHS.indexOf(month) + 1;
  if (zone !== 'UTC' || number === 0) return null;
  const at = Date.parse(`${year}-${String(number).padStart(2, '0')}-${day}T${time}Z`);
  return Number.isNaN(at) ? null : at;
}

function levelOf(message: string): PhpLevel {
  return LEVELS.find(([prefix]) => prefix.test(message))?.[1] ?? 'message';
}
