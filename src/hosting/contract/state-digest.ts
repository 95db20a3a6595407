import { hash } from 'node:crypto';
import type { Hostname, InstallState } from './host.ts';

/** Digest of a website's state as visitors see it: SHA-256 in hex, without private keys and versions. */
export function stateDigest({
  name,
  hostnames,
  offload,
}: {
  name: string;
  hostnames: readonly (Omit<Hostname, 'certificate'> & {
    certificate: { chain: string } | null;
  })[];
  offload: InstallState['offload'];
}): string {
  const shown = hostnames
    .map((one) => [one.name, one.redirectTo, one.forceHttps, one.certificate?.chain ?? null] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const paths = offload?.paths.map((one) => [one.path, one.excludedPaths, one.redirectType]);
  const offloaded = offload && [offload.bucket, offload.region, paths];
  return hash('sha256', JSON.stringify([name, shown, offloaded]), 'hex');
}
