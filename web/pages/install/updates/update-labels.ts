import type { Update, UpdatePolicy } from '../../../api/updates.ts';
import type { Tone } from '../../../components/notice.tsx';

const STATES: Record<Update['status'], { word: string; tone: Tone }> = {
  requested: { word: 'Waiting', tone: 'busy' },
  running: { word: 'In progress', tone: 'busy' },
  succeeded: { word: 'Done', tone: 'good' },
  unnecessary: { word: 'Up to date', tone: 'plain' },
  rolled_back: { word: 'Rolled back', tone: 'bad' },
  failed: { word: 'Failed', tone: 'bad' },
  cancelled: { word: 'Cancelled', tone: 'plain' },
};

/** Returns the label of an update's state. */
export function updateState({ status }: Pick<Update, 'status'>): { word: string; tone: Tone } {
  return STATES[status];
}

/** Returns a sentence of the update's outcome; null without one. */
export function updateOutcome({
  status,
  updates,
  reason,
  restored,
}: Pick<Update, 'status' | 'updates' | 'reason' | 'restored'>): string | null {
  const made = updates.map(({ name, from, to }) => `${name} ${from} → ${to}`).join(', ');
  const told = reason ?? (made === '' ? null : made);
  // A rollback says so anyway.
  if (!restored || status === 'rolled_back') return told;
  const lost = 'The checkpoint was restored; what visitors wrote after it is lost.';
  return told === null ? lost : `${told.replace(/\.$/, '')}. ${lost}`;
}

/** The values of the form for a policy. */
export interface PolicyValues {
  core: string;
  plugins: string;
  themes: string;
  hasWindow: boolean;
  days: string[];
  fromHour: string;
  hours: string;
  timeZone: string;
  /** One path on each line. */
  pages: string;
}

type PolicyChange = Omit<UpdatePolicy, 'defer_wordpress_upgrades_until'>;

/** Returns the request for the values of the form. */
export function policyChange(values: PolicyValues): {
  core: PolicyChange['core'];
  plugins: PolicyChange['plugins'];
  themes: PolicyChange['themes'];
  maintenance_window: PolicyChange['maintenance_window'];
  pages: string[];
} {
  return {
    core: oneOf(CORE, values.core),
    plugins: oneOf(ITEMS, values.plugins),
    themes: oneOf(ITEMS, values.themes),
    maintenance_window: values.hasWindow
      ? {
          days: DAYS.filter((day) => values.days.includes(day)),
          from_hour: Number(values.fromHour),
          hours: Number(values.hours),
          time_zone: values.timeZone.trim(),
        }
      : null,
    pages: values.pages
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== ''),
  };
}

const CORE = ['security', 'minor', 'all', 'none'] as const;
const ITEMS = ['none', 'weekly', 'daily'] as const;
export const DAYS = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'] as const;

export const CORE_OPTIONS = [
  { value: 'security', label: 'Security releases only' },
  { value: 'minor', label: 'Releases before the next major' },
  { value: 'all', label: 'All releases' },
  { value: 'none', label: 'None' },
];

export const ITEM_OPTIONS = [
  { value: 'none', label: 'None' },
  { value: 'weekly', label: 'Weekly' },
  { value: 'daily', label: 'Daily' },
];

/** A select has no other values. */
function oneOf<Value extends string>(values: readonly [Value, ...Value[]], text: string): Value {
  return values.find((value) => value === text) ?? values[0];
}
