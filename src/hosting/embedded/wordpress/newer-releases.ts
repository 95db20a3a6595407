import type { Logger } from 'pino';
import type { Clock } from '../../../lib/clock.ts';
import { type Repetition, repeatEvery } from '../../../lib/concurrency.ts';
import { DAY_MS } from '../../../lib/durations.ts';
import { compareVersions } from '../../policy/wordpress-version.ts';
import { newestFirst } from '../../wordpress/core-tree.ts';
import type { CoreFolders, WordPressCores } from '../../wordpress/cores.ts';
import { listReleases, missingReleases } from '../../wordpress/releases.ts';
import { removeUnusedCores } from '../../wordpress/unused-cores.ts';

interface NewerReleasesOptions {
  layout: Pick<CoreFolders, 'cores'>;
  cores: WordPressCores;
  /** Lists releases as api.wordpress.org does. */
  url: string;
  fetch: typeof fetch;
  /** The versions that websites use. */
  used(): Promise<string[]>;
  /** Makes a new version ready for new websites. */
  prepare(): Promise<unknown>;
  clock: Clock;
  log: Logger;
}

/**
 * Looks for newer releases of WordPress now and every day, adds the newest for new websites and those of the branches in use, and removes
 * versions that none needs. A machine without Internet
 * goes on with what it has.
 */
export function followReleases(options: NewerReleasesOptions): Repetition {
  const { layout, cores, url, used, prepare, clock, log } = options;
  return repeatEvery(
    async () => {
      const released = await listReleases(url, options.fetch);
      const [newest] = newestFirst(released);
      const [held] = await cores.list();
      if (newest !== undefined && (held === undefined || compareVersions(newest, held) > 0)) {
        await cores.addRelease(newest);
        await prepare();
      }
      const present = await used();
      // Security releases of older branches, which policies for automatic updates ask for.
      for (const version of missingReleases(present, await cores.list(), released)) {
        await cores.addRelease(version);
      }
      await removeUnusedCores({ layout, cores, clock }, present);
    },
    {
      delayMs: DAY_MS,
      immediately: true,
      onError: (err) => log.info({ err }, 'could not look for a newer WordPress; the next try is tomorrow'),
    },
  );
}
