import { networkInterfaces } from 'node:os';
import type { Config } from './config.ts';

/**
 * The addresses at which the world reaches the edge, for A and AAAA records: those that are configured; else the one that
 * it listens on; else, where it listens on all of the machine's, those of its interfaces.
 */
export function edgeAddresses({
  edgeAddresses: configured,
  edgeHttp,
}: Pick<Config, 'edgeAddresses' | 'edgeHttp'>): string[] {
  if (configured.length > 0) return configured;
  if (edgeHttp.host !== '0.0.0.0' && edgeHttp.host !== '::') return [edgeHttp.host];
  const wanted = edgeHttp.host === '::' ? ['IPv4', 'IPv6'] : ['IPv4'];
  return Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter(
      ({ internal, family, address }) => !internal && wanted.includes(family) && !address.startsWith('fe80:'),
    )
    .map(({ address }) => address);
}
