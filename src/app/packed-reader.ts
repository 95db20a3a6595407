import { join } from 'node:path';
import type { Host } from '../hosting/contract/host.ts';
import { createPackedArchives } from '../hosting/policy/packed-archives.ts';
import { UpstreamFailed } from '../lib/failures.ts';
import type { Platform } from '../platform/platform.ts';
import { isOwnFolder } from './embedded-websites.ts';
import type { LazyFleet } from './lazy-fleet.ts';

/**
 * Reads packed archives in a process that has the API only: from Linux hosts, or from the folder of an embedded host, if that is
 * here.
 */
export function createPackedReader(
  { config, database, clock }: Platform,
  fleet: LazyFleet,
): Host['readPacked'] {
  if (config.host === 'linux') {
    return (install, archiveId, part) => fleet.host().readPacked(install, archiveId, part);
  }
  const archives = createPackedArchives({ folder: join(config.dataDir, 'host', 'archives'), clock });
  return async ({ id }, archiveId, part) => {
    if (!(await isOwnFolder(config, database))) {
      throw new UpstreamFailed(
        'This process cannot read the archive. Download it from the process that serves the websites.',
      );
    }
    return archives.read(id, archiveId, part);
  };
}
