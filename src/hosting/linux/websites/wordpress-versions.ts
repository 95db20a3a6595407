import { messageOf } from '../../../lib/error-message.ts';
import { PermanentHostError } from '../../contract/errors.ts';
import type { FetchedReleases } from '../../contract/wordpress-updates.ts';
import { listReleases, missingReleases } from '../../wordpress/releases.ts';
import { removeUnusedCores } from '../../wordpress/unused-cores.ts';
import { findPhpRuntimes } from '../machine/php-runtimes.ts';
import { tryOrLog } from '../machine/try-or-log.ts';
import type { LinuxHostParts } from './linux-host-parts.ts';
import type { StartRetries } from './start-retries.ts';

/** WordPress versions for websites of this host. Each is installed once as a test before websites get it. */
export interface WordPressVersions {
  /** Prepares the newest version, and downloads it if needed. Failures are retried; existing websites are not affected. */
  prepare(): Promise<void>;
  /**
   * Adds the version from `source`, and returns its number. If it cannot be installed, removes it unless a website uses it, and
   * rejects with a {@link PermanentHostError}.
   */
  add(source: string | null): Promise<string>;
  /** See `HostMachine.addReleases`. */
  addReleases(): Promise<FetchedReleases>;
}

export function createWordPressVersions(
  { layout, cores, templates, compiledCores, records, aside, clock, log, releasesUrl }: LinuxHostParts,
  startRetries: StartRetries,
): WordPressVersions {
  /** New websites get the newest version, so it must be installable. */
  async function proveInstallable(version: string): Promise<void> {
    try {
      await templates.ensure(version);
    } catch (cause) {
      const isUsed = (await records.all()).some(({ placement }) => placement.wordpressVersion === version);
      if (!isUsed) await cores.remove(version);
      const fate = isUsed ? 'stays for the websites that use it' : 'was removed';
      const why = messageOf(cause);
      throw new PermanentHostError(`WordPress ${version} cannot be installed and ${fate}: ${why}`, {
        cause,
      });
    }
  }

  /** Compiles it for each PHP version of this machine. Optional: without it, a website's first page is slower. */
  async function compile(wordpressVersion: string): Promise<void> {
    for (const php of await findPhpRuntimes(layout)) {
      await compiledCores.ensure(php, wordpressVersion).catch((err: unknown) => {
        log.warn({ err }, `could not compile WordPress ${wordpressVersion} for PHP ${php.version}`);
      });
    }
  }

  async function add(source: string | null): Promise<string> {
    const version = await cores.add(source);
    await proveInstallable(version);
    await compile(version);
    return version;
  }

  async function addRelease(version: string): Promise<void> {
    await cores.addRelease(version);
    await proveInstallable(version);
    await compile(version);
  }

  async function addReleases(): Promise<FetchedReleases> {
    const before = await cores.list();
    const failures: string[] = [];
    const attempt = (work: () => Promise<unknown>) =>
      work().catch((err: unknown) => {
        log.error({ err }, 'could not fetch WordPress');
        failures.push(messageOf(err));
      });
    await attempt(() => add(null));
    if (cores.isOfficial) {
      await attempt(async () => {
        const used = (await records.all()).map(({ placement }) => placement.wordpressVersion);
        const released = await listReleases(releasesUrl);
        for (const version of missingReleases(used, await cores.list(), released)) {
          await attempt(() => addRelease(version));
        }
      });
    }
    await tryOrLog(log, 'could not remove unused versions of WordPress', async () => {
      const used = [...(await records.all()), ...(await aside.all())];
      await removeUnusedCores(
        { layout, cores, clock },
        used.map(({ placement }) => placement.wordpressVersion),
      );
    });
    return { added: (await cores.list()).filter((version) => !before.includes(version)), failures };
  }

  return {
    add,
    addReleases,
    async prepare() {
      await cores.ensureAny();
      const [newest] = await cores.list();
      if (newest === undefined) return;
      await startRetries.begin('wordpress', `WordPress ${newest} for new websites`, async () => {
        await templates.ensure(newest);
        await compile(newest);
      });
    },
  };
}
