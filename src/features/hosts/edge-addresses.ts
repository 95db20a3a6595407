import { networkInterfaces } from 'node:os';
import type { Config } from '../../config/config.ts';
import { createAddressPolicy } from '../../network/probe/address-policy.ts';

/**
 * The addresses at which the world reaches the edge, for A and AAAA records: those that are configured; else the one that
 * it listens on; else, where it listens on all of the machine's, those of its interfaces that are public or that checks
 * may reach nonetheless. None may be left, as behind NAT, where only the operator knows the address in front.
 */
export function edgeAddresses(
  {
    edgeAddresses: configured,
    edgeHttp,
    allowPrivateTargets,
  }: Pick<Config, 'edgeAddresses' | 'edgeHttp' | 'allowPrivateTargets'>,
  interfaces: ReturnType<typeof networkInterfaces> = networkInterfaces(),
): string[] {
  if (configured.length > 0) return configured;
  if (edgeHttp.host !== '0.0.0.0' && edgeHttp.host !== '::') return [edgeHttp.host];
  const wanted = edgeHttp.host === '::' ? ['IPv4', 'IPv6'] : ['IPv4'];
  const isReachable = createAddressPolicy(allowPrivateTargets);
  return Object.values(interfaces)
    .flatMap((addresses) => addresses ?? [])
    .filter(({ internal, family, address }) => !internal && wanted.includes(family) && isReachable(address))
    .map(({ address }) => address);
}
