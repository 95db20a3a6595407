import type { KnownHost } from './store.ts';

/** A host that answers, with room for `capacity` installs. */
export function knownHost(name: string, capacity: number, changes: Partial<KnownHost> = {}): KnownHost {
  return {
    id: name,
    name,
    address: 'unix:/run/x/host.sock',
    public_name: null,
    edge_addresses: [],
    labels: [],
    reserved: false,
    accepting: true,
    seen_at: null,
    reason: null,
    lost_at: null,
    description: {
      id: name,
      capacity,
      phpVersions: ['8.2'],
      wordpressVersions: ['6.8.7'],
      reservedNames: ['backup'],
      ports: { http: 80, https: 443, ssh: 22 },
    },
    ...changes,
  };
}

/** A machine of two processors with these free parts of its memory and its disk, and this load. */
export const withLeft = (known: KnownHost, memory: number, disk: number, load: number): KnownHost => ({
  ...known,
  description: known.description && {
    ...known.description,
    machine: {
      processors: 2,
      load,
      memory: { total: 1000, free: memory * 1000 },
      disk: { total: 1000, free: disk * 1000 },
    },
  },
});
