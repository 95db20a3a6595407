import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { syncFolder } from '../../../lib/durable-file.ts';
import { messageOf } from '../../../lib/error-message.ts';
import { syncFileSystem } from '../../../lib/sync-file-system.ts';
import { isUnchanged } from '../../contract/errors.ts';
import type { InstallRef } from '../../contract/install-ref.ts';
import type { PhpSites } from '../../runtime/wasm/php-sites.ts';
import { CoreUnchanged } from '../../websites/changes/changeable-website.ts';
import { requireCore } from '../../wordpress/core-tree.ts';
import type { Layout } from '../host-folder/layout.ts';
import { requirePlainFolder } from '../host-folder/plain-folder.ts';
import { adoptDatabase, announceDatabase } from './adopted-database.ts';
import { copyLiveDatabase } from './database-copy.ts';
import { restoredIn } from './restored-parts.ts';
import { DATABASE, type SiteFacts } from './site.ts';
import type { WordPressSites } from './wordpress-sites.ts';

interface SwitchedWebsite extends InstallRef {
  facts: SiteFacts;
}

interface CoreSwitchOptions {
  layout: Layout;
  php: Pick<PhpSites, 'atRest'>;
  sites: Pick<WordPressSites, 'upgradeDatabase'>;
  /** Records the WordPress that the website has. */
  record(version: string): Promise<void>;
  log: Logger;
}

/** Beside the document root: the database that another WordPress upgrades. */
const UPGRADED = '.upgraded-database';

/**
 * Switches a website to another WordPress of this host, newer or older. That one upgrades a copy of the database, which then replaces the
 * present one. Visitors wait meanwhile. Rejects with {@link CoreUnchanged} if that fails.
 */
export async function switchCore(
  { id, name, facts }: SwitchedWebsite,
  to: string,
  { layout, php, sites, record, log }: CoreSwitchOptions,
): Promise<void> {
  const upgraded = join(layout.installOf(id), UPGRADED);
  const files = layout.filesOf(id);
  await php.atRest(id, async () => {
    try {
      try {
        await requireCore(layout.coreOf(to));
        await rm(upgraded, { recursive: true, force: true });
        await mkdir(upgraded, { mode: 0o700 });
        await copyLiveDatabase(join(layout.databaseOf(id), DATABASE), join(upgraded, DATABASE));
        await sites.upgradeDatabase({ files, database: upgraded }, { ...facts, version: to });
        await syncFileSystem(upgraded);
      } catch (error) {
        throw new CoreUnchanged(messageOf(error), { cause: error });
      }
      await replaceDatabase(layout, id, upgraded);
      await record(to);
    } finally {
      await rm(upgraded, { recursive: true, force: true });
    }
  });
  log.info({ install: id, from: facts.version, to }, `${name} switched to WordPress ${to}`);
}

interface FormerCoreOptions {
  /** The versions of WordPress that this host has. */
  versions(): Promise<string[]>;
  record(version: string): Promise<void>;
}

/**
 * Runs a restore of a website that gets the WordPress `former` again. If the host no longer has it, or the restore
 * replaces nothing, the website keeps its present one.
 */
export async function restoringCore<Result>(
  { facts }: SwitchedWebsite,
  former: string,
  { versions, record }: FormerCoreOptions,
  restore: () => Promise<Result>,
): Promise<Result> {
  if (former === facts.version || !(await versions()).includes(former)) return restore();
  await record(former);
  try {
    return await restore();
  } catch (error) {
    if (isUnchanged(error)) await record(facts.version);
    throw error;
  }
}

/** By the steps of a restore, which continue after an interruption. */
async function replaceDatabase(layout: Layout, installId: string, upgraded: string): Promise<void> {
  const { files, database } = restoredIn(layout.filesOf(installId));
  await requirePlainFolder(join(database, '..'));
  await announceDatabase(files, upgraded);
  await rm(database, { recursive: true, force: true });
  await rename(upgraded, database);
  await syncFolder(join(database, '..'));
  await adoptDatabase(layout, installId);
}
