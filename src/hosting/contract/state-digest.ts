import { hash } from 'node:crypto';
import type { Hostname, InstallState } from './install-state.ts';
import type { WebsiteRules } from './website-rules.ts';

/** Digest of a website's state as visitors see it: SHA-256 in hex, without private keys and versions. */
export function stateDigest({
  name,
  hostnames,
  offload,
  rules,
}: {
  name: string;
  hostnames: readonly (Omit<Hostname, 'certificate'> & {
    certificate: { chain: string } | null;
  })[];
  offload: InstallState['offload'];
  rules?: WebsiteRules | null | undefined;
}): string {
  const shown = hostnames
    .map((one) => [one.name, one.redirectTo, one.forceHttps, one.certificate?.chain ?? null] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const paths = offload?.paths.map((one) => [one.path, one.excludedPaths, one.redirectType]);
  const offloaded = offload && [offload.bucket, offload.region, paths];
  // Hosts of earlier versions know no rules.
  const ruled = rules ? [sortedKeys(rules)] : [];
  return hash('sha256', JSON.stringify([name, shown, offloaded, ...ruled]), 'hex');
}

/** The same value, whatever the order of its keys. */
function sortedKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortedKeys);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return entries.map(([key, member]) => [key, sortedKeys(member)]);
}
