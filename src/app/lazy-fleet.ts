import type { Host } from '../hosting/contract/host.ts';
import type { Platform } from '../platform/platform.ts';
import { createLinuxFleet } from './linux-fleet.ts';

/** The Linux hosts, for a process that does not have the role of hosting. Connects at the first use. */
export interface LazyFleet {
  host(): Host;
  close(): Promise<void>;
}

export function createLazyFleet(platform: Platform): LazyFleet {
  let fleet: Host | undefined;
  return {
    host() {
      fleet ??= createLinuxFleet(platform).host;
      return fleet;
    },
    close: async () => fleet?.stop(),
  };
}
