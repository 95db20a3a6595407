import type { Logger } from 'pino';
import type { Host } from '../../../hosting/contract/host.ts';
import { defineJob, type JobKind, PermanentFailure } from '../../../jobs/job.ts';
import { type Cdn, CdnError, createCdn } from '../../../network/cdn/cloudflare.ts';
import type { Platform } from '../../../platform/platform.ts';
import { postponing } from '../../hosts/host-failures.ts';
import { findActiveInstall, servedNamesOf } from '../installs/website-store.ts';
import { purgeCache } from './jobs.ts';

/** Throws an OperatorError if the CDN is configured by halves. */
export function cacheJobKinds(
  { database, config }: Pick<Platform, 'database' | 'config'>,
  host: Host,
): JobKind[] {
  const cdn = createCdn({ zone: config.cdnZone, token: config.cdnToken, api: config.cdnApi });
  return [
    defineJob({
      ...purgeCache,
      async run({ install_id, cache }, { signal, log }) {
        const install = await findActiveInstall(database.reader, install_id);
        // A website that is not there has no cache.
        if (!install) return;
        // The host first, or the CDN would fetch what is old anew.
        await postponing(host.purge(install, cache));
        if (cache === 'cdn')
          await purgeCdn(cdn, await servedNamesOf(database.reader, install.id), { signal, log });
      },
    }),
  ];
}

async function purgeCdn(
  cdn: Cdn | null,
  hostnames: string[],
  { signal, log }: { signal: AbortSignal; log: Logger },
): Promise<void> {
  if (cdn === null) {
    log.info('there is no CDN to purge: HOMEPORT_CDN_ZONE is not set');
    return;
  }
  // A CDN purges names, and does not know which of those below a wildcard it has served.
  const names = hostnames.filter((name) => !name.startsWith('*.'));
  const wildcards = hostnames.filter((name) => name.startsWith('*.'));
  if (wildcards.length > 0) log.warn({ wildcards }, 'the CDN cannot purge what is below a wildcard');
  try {
    const { refused } = await cdn.purge(names, signal);
    if (refused.length > 0) log.warn({ refused }, 'the CDN does not purge some of the names');
    log.info({ names: names.length - refused.length }, 'the CDN was purged');
  } catch (error) {
    if (!(error instanceof CdnError && error.permanent)) throw error;
    throw new PermanentFailure(error.message, { cause: error });
  }
}
