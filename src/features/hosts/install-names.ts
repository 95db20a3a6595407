import type { Config } from '../../config/config.ts';
import type { Queries } from '../../database/database.ts';
import { defaultDomain } from '../../lib/default-domain.ts';
import { createEdgeAddressBook } from './edge-address-book.ts';
import { allHosts, placedInstalls } from './store.ts';

/** The name that an install always has, which the operator's DNS should know and customers' CNAMEs point to. */
export interface InstallName {
  /** `<install>.<site domain>`. */
  name: string;
  install_id: string;
  /** The host that serves it; null: this platform's own process. */
  host: string | null;
  /** Where it should lead; none while nobody has told. */
  addresses: string[];
}

type EdgeConfig = Parameters<typeof createEdgeAddressBook>[0] & Pick<Config, 'siteDomain'>;

/** The names of all installs that are served or about to be, newest first. */
export async function installNames(queries: Queries, config: EdgeConfig): Promise<InstallName[]> {
  const edges = createEdgeAddressBook(config);
  const [hosts, installs] = await Promise.all([allHosts(queries), placedInstalls(queries)]);
  const byId = new Map(hosts.map((host) => [host.id, { host: host.name, addresses: edges.ofHost(host) }]));
  const ownProcess = { host: null, addresses: edges.ofHost(undefined) };
  return installs.flatMap(({ id, name, host_id }) => {
    const served = config.host === 'embedded' ? ownProcess : byId.get(host_id ?? '');
    // On no host yet, and so nowhere in the DNS.
    return served === undefined
      ? []
      : [{ name: defaultDomain(name, config.siteDomain), install_id: id, ...served }];
  });
}
