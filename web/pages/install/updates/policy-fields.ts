import type { HostingPaths } from '../../../api/client.ts';
import type { UpdatePolicy } from '../../../api/updates.ts';
import { linesOf } from '../../../components/lines.ts';

export const DAYS = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'] as const;

export const CORE_OPTIONS = [
  { value: 'security', label: 'Security releases only' },
  { value: 'minor', label: 'Releases before the next major' },
  { value: 'all', label: 'All releases' },
  { value: 'none', label: 'None' },
] as const;

export const ITEM_OPTIONS = [
  { value: 'none', label: 'None' },
  { value: 'weekly', label: 'Weekly' },
  { value: 'daily', label: 'Daily' },
] as const;

type Day = (typeof DAYS)[number];

/** A maintenance window in the fields of the form. */
export interface WindowFields {
  days: readonly Day[];
  from_hour: string;
  hours: string;
  time_zone: string;
}

/** A suggestion for the first maintenance window. */
export const suggestedWindow = (): WindowFields => ({
  days: DAYS,
  from_hour: '2',
  hours: '4',
  time_zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
});

export type PolicyFields = ReturnType<typeof policyFields>;

/** Returns the fields of the form for a policy. */
export function policyFields({ core, plugins, themes, maintenance_window: window, pages }: UpdatePolicy) {
  const fields: WindowFields | null = window && {
    days: window.days,
    from_hour: String(window.from_hour),
    hours: String(window.hours),
    time_zone: window.time_zone,
  };
  return { core, plugins, themes, maintenance_window: fields, pages: pages.join('\n') };
}

/** Says in words what {@link policyFields} has for the maintenance window. */
export function describeWindow(window: PolicyFields['maintenance_window']): string {
  if (window === null) return 'no maintenance window';
  const { days, from_hour, hours, time_zone } = window;
  const shown = days.length === DAYS.length ? 'every day' : days.join(', ');
  return `${shown}, from ${from_hour}:00 for ${hours} hours, ${time_zone}`;
}

type PolicyChange =
  HostingPaths['/installs/{install_id}/wordpress/update_policy']['patch']['requestBody']['content']['application/json'];

/** Returns the request for the edited fields. */
export function policyChange(edited: Partial<PolicyFields>): PolicyChange {
  const { maintenance_window: window, pages, ...choices } = edited;
  return {
    ...choices,
    ...(window === undefined ? {} : { maintenance_window: window && windowOf(window) }),
    ...(pages === undefined ? {} : { pages: linesOf(pages) }),
  };
}

const windowOf = ({ days, from_hour, hours, time_zone }: WindowFields) => ({
  days: DAYS.filter((day) => days.includes(day)),
  from_hour: Number(from_hour),
  hours: Number(hours),
  time_zone: time_zone.trim(),
});
