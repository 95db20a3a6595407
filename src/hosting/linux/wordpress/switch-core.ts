import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { MINUTE_MS } from '../../../lib/durations.ts';
import { messageOf } from '../../../lib/error-message.ts';
import { pinFolder } from '../../runtime/linux/pinned-folder.ts';
import { runWhole } from '../../runtime/linux/run-php.ts';
import { CoreUnchanged } from '../../websites/changes/changeable-website.ts';
import { requireCore, themesIn } from '../../wordpress/core-tree.ts';
import { phpFileOf } from '../../wordpress/php-files.ts';
import type { Databases } from '../daemons/databases.ts';
import { flushRedis } from '../daemons/redis.ts';
import { foldersOf, type SandboxedInstall } from '../isolation/sandbox.ts';
import type { LinuxLayout } from '../machine/layout.ts';
import { linkSite } from './site-files.ts';

export interface CoreSwitchOptions {
  layout: LinuxLayout;
  databases: Databases;
  enter(installId: string): readonly string[];
  log: Logger;
}

/** Enough for a large database on a slow disk. */
const UPGRADE_MS = 30 * MINUTE_MS;

/**
 * Switches a website to another core. Rejects with {@link CoreUnchanged} if it could not begin. The database is upgraded first, while visitors still see the former core; then the links
 * follow. If the upgrade fails, the dump is loaded again.
 */
export function createCoreSwitch({ layout, databases, enter, log }: CoreSwitchOptions) {
  return async function switchCore(
    install: SandboxedInstall,
    database: string,
    from: string,
    to: string,
    { keepsDump = true }: { keepsDump?: boolean } = {},
  ): Promise<void> {
    await requireCore(layout.coreOf(to));
    const before = { ...install, wordpressVersion: from };
    const after = { ...install, wordpressVersion: to };
    const dump = join(layout.scratch, `switch-${install.id}.sql`);
    try {
      await prepare(before, { database, dump, to });
      await upgradeDatabase(after, database, dump);
      await linkSite(layout, after);
      if (keepsDump) await keepDump(install, dump, `database-before-wordpress-${to}.sql`);
    } finally {
      await rm(dump, { force: true });
    }
    log.info({ install: install.id, from, to }, `${install.name} switched to WordPress ${to}`);
  };

  async function prepare(
    before: SandboxedInstall,
    { database, dump, to }: { database: string; dump: string; to: string },
  ): Promise<void> {
    try {
      await mkdir(layout.scratch, { recursive: true, mode: 0o700 });
      await databases.dump(database, dump);
      await keepThemes(before, to);
    } catch (error) {
      throw new CoreUnchanged(messageOf(error), { cause: error });
    }
  }

  /** Copies a theme in use that the other core lacks, so that it becomes the website's own. */
  async function keepThemes(before: SandboxedInstall, to: string): Promise<void> {
    const core = layout.coreOf(before.wordpressVersion);
    const next = new Set(await themesIn(layout.coreOf(to)));
    const lost = (await themesIn(core)).filter((theme) => !next.has(theme));
    if (lost.length === 0) return;
    await runWhole(layout, before, {
      script: phpFileOf(core, 'keep-themes.php'),
      args: lost,
      enter: enter(before.id),
    });
  }

  async function upgradeDatabase(after: SandboxedInstall, database: string, dump: string): Promise<void> {
    try {
      await runWhole(layout, after, {
        script: phpFileOf(layout.coreOf(after.wordpressVersion), 'upgrade.php'),
        enter: enter(after.id),
        timeoutMs: UPGRADE_MS,
      });
    } catch (error) {
      await databases.load(database, dump);
      await flushRedis(layout.redisSocketOf(after.id));
      throw error;
    }
  }

  /** The website is switched by now, so a folder of the customer in this place is not worth an error. */
  async function keepDump(install: SandboxedInstall, dump: string, name: string): Promise<void> {
    const folder = await pinFolder(foldersOf(layout, install).private);
    try {
      await folder.take(dump, name, { uid: install.uid, gid: install.gid, mode: 0o600 });
    } catch (error) {
      log.warn(
        { err: error, install: install.id },
        `could not keep the dump from before the switch as ${name}`,
      );
    } finally {
      await folder.close();
    }
  }
}
