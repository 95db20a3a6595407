import type { SearchResult } from '../api/search.ts';
import { displayName } from '../components/display-name.ts';
import { environmentLabel, environmentOf } from '../components/environments.ts';

/** The page of a found site, install, domain or tag. */
export function pathOf({ kind, id, name }: SearchResult): string {
  if (kind === 'site') return `/sites/${id}`;
  if (kind === 'tag') return `/accounts/${id}/sites?tags=${encodeURIComponent(name)}`;
  return kind === 'install'
    ? `/installs/${id}`
    : `/installs/${id}/domains?search=${encodeURIComponent(name)}`;
}

export const nameOf = ({ kind, name }: SearchResult) => (kind === 'domain' ? displayName(name) : name);

/** Describes a result by its kind and place, and by its account if the user has several. */
export function describe(result: SearchResult, isOneOfSeveral: boolean): string {
  const kind = kindOf(result);
  return isOneOfSeveral ? `${kind}, ${result.account.name}` : kind;
}

function kindOf({ kind, install, site, environment }: SearchResult): string {
  if (kind === 'site') return 'Site';
  if (kind === 'tag') return 'Tag of sites';
  const place =
    site === null ? 'no site' : `${environmentLabel(environmentOf(environment ?? ''))} of ${site}`;
  return kind === 'install' ? `Install, ${place}` : `Domain of ${install}, ${place}`;
}
