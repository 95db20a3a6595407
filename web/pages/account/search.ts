import type { InstallConditions } from '../../api/install-list.ts';
import { environmentOf } from '../../components/environments.ts';
import { STATUS_LABELS } from '../../components/install-states.ts';
import { tagsIn } from '../../components/tag-names.ts';

/** Filters of the installs page. An empty text matches everything. */
export interface InstallFilter {
  /** A status, or `attention`. */
  status: string;
  environment: string;
  /** The ID of a site, or `none`. */
  site: string;
  /** Tags separated by commas: all of them. */
  tags: string;
}

/** Filter value for installs without a site or environment. */
export const NONE = 'none' as const;
/** The server counts installs without a site up to here. */
const MOST_WITHOUT_SITE = 10_000;

/** Says how many installs have no site. */
export function withoutSite(count: number): string {
  if (count >= MOST_WITHOUT_SITE) return '10,000 installs or more have no site.';
  return count === 1 ? '1 install has no site.' : `${count} installs have no site.`;
}

/** Filter value for installs that need attention, in place of a status. */
export const ATTENTION = 'attention' as const;
const STATUSES = [ATTENTION, 'pending', 'active', 'failed'] as const;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Parses the filters in the query string. Invalid values are ignored. */
export function installFilterOf(get: (name: string) => string): InstallFilter {
  const [status, environment] = [get('status'), get('environment')];
  return {
    status: status === ATTENTION || Object.hasOwn(STATUS_LABELS, status) ? status : '',
    environment: environment === NONE || environmentOf(environment) !== null ? environment : '',
    site: get('site') === NONE || UUID.test(get('site')) ? get('site') : '',
    tags: tagsIn(get('tags')),
  };
}

/** Converts the filters and a search text to query parameters of the server. */
export function conditionsOf(
  { status, environment, site, tags }: InstallFilter,
  search: string,
): InstallConditions {
  const known = STATUSES.find((one) => one === status);
  const place = environment === NONE ? NONE : environmentOf(environment);
  return {
    ...(search === '' ? {} : { search }),
    ...(known === undefined ? {} : { status: known }),
    ...(place === null ? {} : { environment: place }),
    ...(site === '' ? {} : { site }),
    ...(tags === '' ? {} : { tags }),
  };
}
