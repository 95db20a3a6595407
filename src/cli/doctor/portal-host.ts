import type { Config } from '../../config/config.ts';
import type { Database } from '../../database/database.ts';
import { portalHostOf } from '../../features/domains/domains/portal-host.ts';
import { type Finding, ok, problem } from './finding.ts';

const CHECK = 'portal host';

/**
 * Checks that no website has the portal's host name. A domain may have been added before HOMEPORT_PUBLIC_URL named it, and the edge
 * serves it until the install is applied again.
 */
export async function checkPortalHost(
  { reader }: Pick<Database, 'reader'>,
  config: Pick<Config, 'publicUrl'>,
): Promise<Finding[]> {
  const host = portalHostOf(config);
  const domains = await reader
    .selectFrom('domains as domain')
    .innerJoin('installs as install', 'install.id', 'domain.install_id')
    .select(['domain.name', 'install.name as install_name'])
    .where('domain.name', 'in', [host, host.replace(/^[^.]+/, '*')])
    .orderBy('domain.seq')
    .execute();
  if (domains.length === 0)
    return [ok(CHECK, `No website has the domain ${host} or a wildcard that covers it.`)];
  return domains.map(({ name, install_name }) =>
    problem(
      CHECK,
      `The install ${install_name} has the domain ${name}, and the portal is at ${host}: visitors of the website send it ` +
        'the cookie of their session.',
      `homeport install apply ${install_name} stops serving it. Then delete the domain, or give the portal another host ` +
        'name in HOMEPORT_PUBLIC_URL.',
    ),
  );
}
