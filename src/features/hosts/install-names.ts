import type { Config } from '../../config/config.ts';
import type { Queries } from '../../database/database.ts';
import { defaultDomain } from '../../lib/default-domain.ts';
import { createEdgeAddressBook } from './edge-address-book.ts';
import { allHosts, placedInstalls } from './store.ts';

/** The default domain of an install: a name for the operator's DNS, and the target of customers' CNAME records. */
export interface InstallName {
  /** `<install>.<site domain>`. */
  name: string;
  install_id: string;
  /** The host that serves it; null: this platform's own process. */
  host: string | null;
  /** The addresses that it should resolve to; empty if unknown. */
  addresses: string[];
}

type EdgeConfig = Parameters<typeof createEdgeAddressBook>[0] & Pick<Config, 'siteDomain'>;

/** The default domains of all installs that are served or will be, newest first. */
export async function installNames(queries: Queries, config: EdgeConfig): Promise<InstallName[]> {
  const edges = createEdgeAddressBook(config);
  const [hosts, installs] = await Promise.all([allHosts(queries), placedInstalls(queries)]);
  const byId = new Map(
    hosts.map((host) => [host.id, { host: host.name, addresses: edges.leadingTo(host, hosts) }]),
  );
  const ownProcess = { host: null, addresses: edges.ofHost(undefined) };
  return installs.flatMap(({ id, name, host_id }) => {
    const served = config.host === 'embedded' ? ownProcess : byId.get(host_id ?? '');
    // The install has no host yet, so its name has no DNS record.
    return served === undefined
      ? []
      : [{ name: defaultDomain(name, config.siteDomain), install_id: id, ...served }];
  });
}
