import type { WordPressUpdatePolicyRow } from '../../database/tables/wordpress-updates.ts';
import { branchOf, compareVersions } from '../../hosting/policy/wordpress-version.ts';
import { DAY_MS, HOUR_MS } from '../../lib/durations.ts';

export const CORE_POLICIES = ['none', 'security', 'minor', 'all'] as const;
export type CorePolicy = WordPressUpdatePolicyRow['core'];
export const ITEM_POLICIES = ['none', 'weekly', 'daily'] as const;
export type ItemPolicy = WordPressUpdatePolicyRow['plugins'];

export const WEEKDAYS = [
  'monday',
  'tuesday',
  'wednesday',
  'thursday',
  'friday',
  'saturday',
  'sunday',
] as const;
export type Weekday = (typeof WEEKDAYS)[number];

/** When updates may begin. */
export interface MaintenanceWindow {
  days: Weekday[];
  /** First hour of the day, 0 to 23. */
  from_hour: number;
  /** 1 to 24. It can reach into the next day. */
  hours: number;
  /** IANA name: `Europe/Berlin`. */
  time_zone: string;
}

/** The decisions of an install's owner about automatic updates. */
export interface UpdatePolicy {
  core: CorePolicy;
  plugins: ItemPolicy;
  themes: ItemPolicy;
  /** Null: at any time. */
  window: MaintenanceWindow | null;
  /** Paths that checks ask for besides the usual ones. */
  pages: string[];
}

/** The policy of an install whose owner decided nothing. */
export const DEFAULT_POLICY: UpdatePolicy = {
  core: 'security',
  plugins: 'none',
  themes: 'none',
  window: null,
  pages: [],
};

/** The newest of `held` that the policy wants for a website on `present`; null without one. */
export function wantedCore(policy: CorePolicy, present: string, held: readonly string[]): string | null {
  const later = held
    .filter((version) => compareVersions(version, present) > 0 && permits(policy, present, version))
    .sort((a, b) => compareVersions(b, a));
  return later[0] ?? null;
}

function permits(policy: CorePolicy, present: string, version: string): boolean {
  switch (policy) {
    case 'none':
      return false;
    case 'security':
      return branchOf(version) === branchOf(present);
    case 'minor':
      return version.split('.')[0] === present.split('.')[0];
    case 'all':
      return true;
  }
}

const HOURS_A_DAY = 24;
const DAY_NAMES: readonly string[] = WEEKDAYS;

/** The hours of the night in which plugins and themes are updated without a window. */
const NIGHT = { first: 1, hours: 5 };
/** The window for plugins and themes of an install without its own: the same hour of each night, spread over installs. */
export function nightlyWindow(installId: string, time_zone = serversZone()): MaintenanceWindow {
  const from_hour = NIGHT.first + (Number.parseInt(installId.slice(-4), 16) % NIGHT.hours);
  return { days: [...WEEKDAYS], from_hour, hours: 1, time_zone };
}

function serversZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** Whether updates may begin at this time. */
export function isInWindow(window: MaintenanceWindow | null, now: Date): boolean {
  if (window === null) return true;
  const { day, hour } = localTime(now, window.time_zone);
  return window.days.some((name) => {
    const daysAfter = (day - WEEKDAYS.indexOf(name) + WEEKDAYS.length) % WEEKDAYS.length;
    const hoursAfter = daysAfter * HOURS_A_DAY + hour - window.from_hour;
    return hoursAfter >= 0 && hoursAfter < window.hours;
  });
}

/** Day of the week (0: Monday) and hour at a place. */
function localTime(now: Date, timeZone: string): { day: number; hour: number } {
  const parts = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    weekday: 'long',
    hour: '2-digit',
    hourCycle: 'h23',
  });
  const found = new Map(parts.formatToParts(now).map(({ type, value }) => [type, value]));
  const weekday = (found.get('weekday') ?? '').toLowerCase();
  return {
    day: DAY_NAMES.indexOf(weekday),
    hour: Number(found.get('hour')),
  };
}

/** How long after the last look the next one is due. Shorter than a day or week, because windows do not begin at the same minute. */
const PERIODS: Record<Exclude<ItemPolicy, 'none'>, number> = {
  daily: DAY_MS - 4 * HOUR_MS,
  weekly: 7 * DAY_MS - 12 * HOUR_MS,
};

/** Whether plugins or themes are due, last looked at at `last`. */
export function isDue(policy: ItemPolicy, last: string | null, now: Date): boolean {
  if (policy === 'none') return false;
  return last === null || now.getTime() - Date.parse(last) >= PERIODS[policy];
}

/** Whether this computer knows the time zone. */
export function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
