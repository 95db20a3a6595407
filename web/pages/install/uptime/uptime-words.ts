import type { Uptime, UptimeDay } from '../../../api/uptime.ts';
import type { Tone } from '../../../components/notice.tsx';

const WORDS: Record<Uptime['state'], { word: string; tone: Tone }> = {
  up: { word: 'Up', tone: 'good' },
  down: { word: 'Down', tone: 'bad' },
  unknown: { word: 'Unknown', tone: 'plain' },
};

/** The state in a word, with its colour. */
export const stateOf = ({ state }: Pick<Uptime, 'state'>) => WORDS[state];

/** A share in percent, with enough digits to tell it from 100. */
export function formatPercentage(percentage: number | null): string {
  if (percentage === null) return 'Unknown';
  return `${percentage === 100 ? '100' : percentage.toFixed(percentage < 99.9 ? 2 : 3)} %`;
}

/** Seconds as "45 seconds", "12 minutes", "2 h 5 min" or "3 d 4 h". */
export function formatDuration(seconds: number): string {
  if (seconds < 60) return seconds === 1 ? '1 second' : `${seconds} seconds`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return minutes === 1 ? '1 minute' : `${minutes} minutes`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`;
  return hours % 24 === 0 ? `${hours / 24} d` : `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** How a day shows in the row of bars. */
export type DayLevel = 'unknown' | 'up' | 'brief' | 'long';

/** A day with more downtime than this is red, with less yellow. */
const BRIEF_SECONDS = 15 * 60;

export function levelOf({ percentage, down_seconds }: UptimeDay): DayLevel {
  if (percentage === null) return 'unknown';
  if (down_seconds === 0) return 'up';
  return down_seconds <= BRIEF_SECONDS ? 'brief' : 'long';
}

const DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });
export const formatDay = (date: string): string => DAY.format(new Date(`${date}T00:00:00Z`));

/** A day as a sentence without a full stop, for the tooltip of its bar. */
export function daySentence(day: UptimeDay): string {
  const name = formatDay(day.date);
  if (day.percentage === null) return `${name}: not checked`;
  if (day.down_seconds === 0) return `${name}: up`;
  return `${name}: ${formatPercentage(day.percentage)}, down for ${formatDuration(day.down_seconds)}`;
}

/** All bars as one text: a screen reader reads the days with downtime only. */
export function barsSentence(days: readonly UptimeDay[]): string {
  const known = days.filter(({ percentage }) => percentage !== null);
  if (known.length === 0) return 'No checks in the last 90 days.';
  const down = known.filter(({ down_seconds }) => down_seconds > 0);
  const checked = `Checked on ${known.length === 1 ? '1 day' : `${known.length} days`} of the last ${days.length}.`;
  if (down.length === 0) return `${checked} No downtime.`;
  return `${checked} Downtime: ${down.map(daySentence).join('; ')}.`;
}
