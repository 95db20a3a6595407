import type { Install } from '../../api/installs.ts';
import type { Site } from '../../api/sites.ts';
import { environmentOf } from '../site/environments.ts';

const holds = (search: string) => {
  const wanted = search.trim().toLowerCase();
  return (text: string) => text.toLowerCase().includes(wanted);
};

/** The sites whose name, or a name or address of one of whose installs, holds what was typed. */
export function searchSites(
  sites: readonly Site[],
  search: string,
  installs: ReadonlyMap<string, Install>,
): Site[] {
  const matches = holds(search);
  return sites.filter(
    (site) =>
      matches(site.name) ||
      site.installs.some(({ id, name, cname }) =>
        [name, cname, installs.get(id)?.primary_domain ?? ''].some(matches),
      ),
  );
}

/** Which installs are wanted; an empty text: whatever it is. */
export interface InstallFilter {
  search: string;
  status: string;
  environment: string;
  /** The id of a site, or `none`. */
  site: string;
}

/** `none` in a filter stands for what has none. */
export const NONE = 'none';

export function filterInstalls(installs: readonly Install[], filter: InstallFilter): Install[] {
  const matches = holds(filter.search);
  return installs.filter(
    (install) =>
      [install.name, install.primary_domain, install.cname].some(matches) &&
      (filter.status === '' || install.status === filter.status) &&
      (filter.environment === '' || install.environment === environmentOf(filter.environment)) &&
      (filter.site === '' || (install.site?.id ?? NONE) === filter.site),
  );
}
