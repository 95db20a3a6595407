import type { Clock } from '../../../lib/clock.ts';
import { MINUTE_MS, SECOND_MS } from '../../../lib/durations.ts';
import type { Randomness } from '../../../lib/ids.ts';
import { PermanentHostError } from '../../contract/errors.ts';
import type { InstallUsage } from '../../contract/install-limits.ts';
import type { ChangeableWebsite } from '../../websites/changes/changeable-website.ts';
import { CHECK_PACE, type CheckPace } from '../../websites/probe/probing.ts';
import { websiteScripts } from '../../websites/probe/website-scripts.ts';
import type { EmbeddedAddresses } from '../host-options.ts';
import type { EmbeddedWordPress, WordPressWebsite } from './embedded-wordpress.ts';
import { probedWebsite } from './home-page.ts';
import { databaseNameOf } from './site.ts';

interface ChangeableWebsiteOptions {
  wordpress: Pick<EmbeddedWordPress, 'php' | 'sites' | 'runtimeOf'>;
  website: WordPressWebsite;
  /** All its host names. */
  names: readonly string[];
  /** Null while the edge does not listen. */
  addresses: EmbeddedAddresses | null;
  /** Empties its page cache. Effective when it resolves. */
  purgePages(): Promise<void>;
  measure(signal?: AbortSignal): Promise<InstallUsage>;
  versions(): Promise<string[]>;
  switchCore(version: string): Promise<void>;
  restore(backupId: string, version: string, signal?: AbortSignal): Promise<void>;
  pace: Partial<CheckPace>;
  clock: Clock;
  random: Randomness;
}

/** PHP of this host shares the processor with other work, and restarts after the change. `seconds`: what it gives a request. */
const paceOf = (seconds: number): CheckPace => ({
  ...CHECK_PACE,
  pageMs: seconds * SECOND_MS,
  patienceMs: seconds * SECOND_MS,
  wholeMs: 5 * MINUTE_MS,
});

/** A website of this host whose plugins, themes and WordPress are changed. */
export function changeableWebsite(options: ChangeableWebsiteOptions): ChangeableWebsite {
  const { wordpress, website, names, addresses, purgePages, measure, clock, random } = options;
  const { versions, switchCore, restore } = options;
  const { id, facts } = website;
  if (addresses === null) throw new PermanentHostError('Homeport is not serving the website');
  const runtime = wordpress.runtimeOf(website);
  return {
    runtime,
    version: facts.version,
    versions,
    lookAt: async (signal) => ({
      ...websiteScripts(runtime, signal),
      ...probedWebsite({ ...facts, names }, addresses),
      database: databaseNameOf(id),
      clock,
      random,
      pace: { ...paceOf(wordpress.sites.limitsOf(id, facts).seconds), ...options.pace },
      signal,
    }),
    // The limit of the website's size is checked after the change.
    withinDisk: (work) => work(),
    async resetCaches() {
      // A thread keeps compiled files for two seconds.
      await wordpress.php.stop(id);
      await purgePages();
    },
    measure,
    switchCore,
    restore,
  };
}
