import type { Platform } from '../../../platform/platform.ts';
import { createEdgeAddressBook } from '../../hosts/edge-address-book.ts';
import { allHosts, hostServing } from '../../hosts/store.ts';
import { type Reach, triedBy } from '../status-reports/reach.ts';

/**
 * Where a name leads to a host of this platform, but not to the one that serves it: one sentence that says where it should, for "this
 * platform" says nothing then. Null if that is not what is wrong.
 */
export async function otherHostSentence(
  { config, database }: Pick<Platform, 'config' | 'database'>,
  name: string,
  { arrivals }: Pick<Reach, 'arrivals'>,
): Promise<string | null> {
  const stray = triedBy('http', arrivals).find(({ arrives }) => !arrives);
  if (config.host === 'embedded' || stray === undefined) return null;
  const { reader } = database;
  const [hosts, serving] = await Promise.all([allHosts(reader), hostServing(reader, name)]);
  const host = hosts.find(({ id }) => id === serving);
  const others = hosts.filter(({ id }) => id !== serving);
  if (host === undefined || !others.some(({ edge_addresses }) => edge_addresses.includes(stray.address))) {
    return null;
  }
  const addresses = createEdgeAddressBook(config).ofHost(host);
  if (addresses.length === 0 || addresses.includes(stray.address)) return null;
  return `${name} leads to ${stray.address}, a host of this platform that does not serve it; set its DNS record to ${addresses.join(' and ')}.`;
}
