import type { Install } from '../../api/installs.ts';
import type { Site } from '../../api/sites.ts';
import { environmentOf } from '../../components/environments.ts';
import { STATUS_LABELS } from '../../components/install-status.tsx';

/** A search text, and for each install ID a matching domain that the server found. */
export interface Search {
  text: string;
  byDomain: ReadonlyMap<string, string>;
}

const contains = (search: string) => {
  const wanted = search.trim().toLowerCase();
  return (text: string) => text.toLowerCase().includes(wanted);
};

/** Returns the sites that match by name, or by the name or a domain of one of their installs. */
export function searchSites(
  sites: readonly Site[],
  { text, byDomain }: Search,
  installs: ReadonlyMap<string, Install>,
): Site[] {
  const matches = contains(text);
  return sites.filter(
    (site) =>
      matches(site.name) ||
      site.installs.some(
        ({ id, name, cname }) =>
          byDomain.has(id) || [name, cname, installs.get(id)?.primary_domain ?? ''].some(matches),
      ),
  );
}

/** Filters of the installs page. An empty text matches everything. */
export interface InstallFilter {
  /** A status, or `attention`. */
  status: string;
  environment: string;
  /** The ID of a site, or `none`. */
  site: string;
}

/** Filter value for installs without a site or environment. */
export const NONE = 'none';
/** Filter value for installs that need attention, in place of a status. */
export const ATTENTION = 'attention';

/** Parses the filters in the query string. Invalid values are ignored. */
export function installFilterOf(get: (name: string) => string): InstallFilter {
  const [status, environment] = [get('status'), get('environment')];
  return {
    status: status === ATTENTION || Object.hasOwn(STATUS_LABELS, status) ? status : '',
    environment: environment === NONE || environmentOf(environment) !== null ? environment : '',
    site: get('site'),
  };
}

export function filterInstalls(
  installs: readonly Install[],
  { text, byDomain }: Search,
  filter: InstallFilter,
  attention: ReadonlyMap<string, unknown>,
): Install[] {
  const matches = contains(text);
  return installs.filter(
    (install) =>
      (byDomain.has(install.id) || [install.name, install.primary_domain, install.cname].some(matches)) &&
      (filter.status === '' ||
        (filter.status === ATTENTION ? attention.has(install.id) : install.status === filter.status)) &&
      (filter.environment === '' || install.environment === environmentOf(filter.environment)) &&
      (filter.site === '' || (install.site?.id ?? NONE) === filter.site),
  );
}

/** Returns the domain by which an install was found; null if its row shows that domain anyway. */
export function foundBy(
  byDomain: Search['byDomain'],
  install: { id: string; primary_domain: string | undefined },
): string | null {
  const name = byDomain.get(install.id);
  return name === undefined || name === install.primary_domain ? null : name;
}
