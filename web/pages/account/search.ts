import type { Install } from '../../api/installs.ts';
import type { Site } from '../../api/sites.ts';
import { environmentOf } from '../../components/environments.ts';
import { STATUS_LABELS } from '../../components/install-status.tsx';

/** What is searched for: a text, and what the server knows of it, by the ids of installs: a domain whose name holds it. */
export interface Search {
  text: string;
  byDomain: ReadonlyMap<string, string>;
}

const holds = (search: string) => {
  const wanted = search.trim().toLowerCase();
  return (text: string) => text.toLowerCase().includes(wanted);
};

/** The sites whose name, or a name, address or domain of one of whose installs, holds what was typed. */
export function searchSites(
  sites: readonly Site[],
  { text, byDomain }: Search,
  installs: ReadonlyMap<string, Install>,
): Site[] {
  const matches = holds(text);
  return sites.filter(
    (site) =>
      matches(site.name) ||
      site.installs.some(
        ({ id, name, cname }) =>
          byDomain.has(id) || [name, cname, installs.get(id)?.primary_domain ?? ''].some(matches),
      ),
  );
}

/** Which installs are wanted; an empty text: whatever it is. */
export interface InstallFilter {
  /** `attention`: those that somebody should see to; or a status. */
  status: string;
  environment: string;
  /** The id of a site, or `none`. */
  site: string;
}

/** `none` in a filter stands for what has none. */
export const NONE = 'none';
/** In place of a status: those that somebody should see to. */
export const ATTENTION = 'attention';

/** The filter that an address asks for; what is none, as somebody may have typed it, is empty. */
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
  const matches = holds(text);
  return installs.filter(
    (install) =>
      (byDomain.has(install.id) || [install.name, install.primary_domain, install.cname].some(matches)) &&
      (filter.status === '' ||
        (filter.status === ATTENTION ? attention.has(install.id) : install.status === filter.status)) &&
      (filter.environment === '' || install.environment === environmentOf(filter.environment)) &&
      (filter.site === '' || (install.site?.id ?? NONE) === filter.site),
  );
}

/** The domain by which an install was found, where its row does not show it anyhow. */
export function foundBy(
  byDomain: Search['byDomain'],
  install: { id: string; primary_domain: string | undefined },
): string | null {
  const name = byDomain.get(install.id);
  return name === undefined || name === install.primary_domain ? null : name;
}
