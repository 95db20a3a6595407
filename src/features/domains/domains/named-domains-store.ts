import { domainToASCII } from 'node:url';
import type { Queries } from '../../../database/database.ts';

/** A domain as the operator finds it. */
export interface NamedDomain {
  id: string;
  name: string;
  install_id: string;
  install_name: string;
  is_duplicate: boolean;
}

/** For the command line: the domains with a name or an id, the served one first. Several installs can have one name. */
export function domainsNamed(queries: Queries, text: string): Promise<NamedDomain[]> {
  return queries
    .selectFrom('domains as domain')
    .innerJoin('installs as install', 'install.id', 'domain.install_id')
    .select(['domain.id', 'domain.name', 'domain.install_id', 'domain.is_duplicate'])
    .select('install.name as install_name')
    .where((eb) => eb.or([eb('domain.name', '=', nameOf(text)), eb(eb.cast('domain.id', 'text'), '=', text)]))
    .orderBy('domain.is_duplicate')
    .orderBy('domain.seq')
    .execute();
}

/** The form in which names are stored; wildcards keep their star. */
function nameOf(text: string): string {
  const [star, rest] = text.startsWith('*.') ? ['*.', text.slice(2)] : ['', text];
  return `${star}${domainToASCII(rest) || rest.toLowerCase()}`;
}
