import type { Logger } from 'pino';
import type { CacheKind, Host } from '../../../hosting/contract/host.ts';
import { defineJob, type JobKind, PermanentFailure } from '../../../jobs/job.ts';
import { type Cdn, CdnError, createCdn } from '../../../network/cdn/cloudflare.ts';
import type { Platform } from '../../../platform/platform.ts';
import { postponing } from '../../hosts/host-failures.ts';
import { findActiveInstall, servedNamesOf } from '../installs/website-store.ts';
import { purgeCache } from './jobs.ts';

/** A page that is made again reads the object cache, and a CDN fetches that page. */
const INNERMOST_FIRST: readonly CacheKind[] = ['object', 'page', 'cdn'];

/** Throws an OperatorError if the CDN is configured only in part. */
export function cacheJobKinds(
  { database, config }: Pick<Platform, 'database' | 'config'>,
  host: Host,
): JobKind[] {
  const cdn = createCdn({ zone: config.cdnZone, token: config.cdnToken, api: config.cdnApi });
  return [
    defineJob({
      ...purgeCache,
      async run({ install_id, cache, paths }, { signal, log }) {
        const install = await findActiveInstall(database.reader, install_id);
        // An install without a website has no cache.
        if (!install) return;
        if (paths !== undefined) return postponing(host.purgePages(install, paths));
        // The host goes first, or the CDN would fetch stale content again.
        for (const kind of cache === 'all' ? INNERMOST_FIRST : [cache])
          await postponing(host.purge(install, kind));
        if (cache === 'cdn' || (cache === 'all' && cdn !== null))
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
    log.info('no CDN to purge: HOMEPORT_CDN_ZONE is not set');
    return;
  }
  // A CDN purges exact names and cannot list what it cached under a wildcard.
  const names = hostnames.filter((name) => !name.startsWith('*.'));
  const wildcards = hostnames.filter((name) => name.startsWith('*.'));
  if (wildcards.length > 0) log.warn({ wildcards }, 'the CDN cannot purge names under a wildcard');
  try {
    const { refused } = await cdn.purge(names, signal);
    if (refused.length > 0) log.warn({ refused }, 'the CDN refused to purge some names');
    log.info({ names: names.length - refused.length }, 'purged the CDN');
  } catch (error) {
    if (!(error instanceof CdnError && error.permanent)) throw error;
    throw new PermanentFailure(error.message, { code: 'cdn_refused', cause: error });
  }
}
