import { networkInterfaces } from 'node:os';
import type { Config } from '../../config/config.ts';
import { createAddressPolicy } from '../../network/probe/address-policy.ts';

/**
 * The public addresses of the edge, for A and AAAA records: the configured ones, else the address it listens on. If it
 * listens on all interfaces: their public addresses, and private ones if checks may reach those. Empty behind NAT, where
 * only the operator knows the public address.
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
