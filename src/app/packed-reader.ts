import { join } from 'node:path';
import type { Host } from '../hosting/contract/host.ts';
import { createPackedArchives } from '../hosting/policy/packed-archives.ts';
import { UpstreamFailed } from '../lib/failures.ts';
import type { Platform } from '../platform/platform.ts';
import { isOwnFolder } from './embedded-websites.ts';
import { createLinuxFleet } from './linux-fleet.ts';

/** Reads packed archives in a process that has the API only. */
export interface PackedReader {
  readPacked: Host['readPacked'];
  close(): Promise<void>;
}

/** Connects to Linux hosts at the first read. Archives of an embedded host are read from its folder, if that is here. */
export function createPackedReader(platform: Platform): PackedReader {
  const { config, database, clock } = platform;
  if (config.host === 'linux') {
    let fleet: Host | undefined;
    return {
      readPacked(install, archiveId, part) {
        fleet ??= createLinuxFleet(platform).host;
        return fleet.readPacked(install, archiveId, part);
      },
      close: async () => fleet?.stop(),
    };
  }
  const archives = createPackedArchives({ folder: join(config.dataDir, 'host', 'archives'), clock });
  return {
    async readPacked({ id }, archiveId, part) {
      if (!(await isOwnFolder(config, database))) {
        throw new UpstreamFailed(
          'This process cannot read the archive. Download it from the process that serves the websites.',
        );
      }
      return archives.read(id, archiveId, part);
    },
    async close() {},
  };
}
