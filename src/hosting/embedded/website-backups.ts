import { join } from 'node:path';
import { asUnchanged, MissingWebsiteError } from '../contract/errors.ts';
import type { Host } from '../contract/host.ts';
import type { InstallRef } from '../contract/install-ref.ts';
import { ALL_PARTS, type Snapshot } from '../contract/snapshots.ts';
import type { PackedArchives } from '../policy/packed-archives.ts';
import { joinedWarnings, upgradeRestored } from '../websites/database/upgrade-database.ts';
import { recordedRestore, restoreRecord } from '../websites/replacement-record.ts';
import type { createBackupTables } from './backup-tables.ts';
import type { ChosenParts } from './chosen-parts.ts';
import type { Layout } from './host-folder/layout.ts';
import type { HostedWebsites } from './hosted-websites.ts';
import { keepReplacementRecord, readReplacementRecord } from './replacement-record.ts';
import type { Snapshots } from './snapshots/snapshots.ts';
import type { VisitorView } from './visitor-view.ts';
import { blamingWebsite } from './wordpress/broken-website.ts';
import { restoringCore } from './wordpress/core-switch.ts';
import { mergeTables } from './wordpress/database-tables.ts';
import type { EmbeddedWordPress, WordPressWebsite } from './wordpress/embedded-wordpress.ts';
import { noteAddresses, notedAddresses } from './wordpress/noted-addresses.ts';
import { completeChosen, completeRestored, requireParts, restoredIn } from './wordpress/restored-parts.ts';
import { DATABASE, PRIVATE, type SiteFacts } from './wordpress/site.ts';

type Backups = Pick<
  Host,
  | 'browseBackup'
  | 'discardPacked'
  | 'discardSnapshot'
  | 'heldBackups'
  | 'listBackupTables'
  | 'pack'
  | 'readBackupFile'
  | 'readPacked'
  | 'restore'
  | 'snapshot'
>;

interface BackupsOptions extends Pick<VisitorView, 'requireHomePage' | 'warning'> {
  layout: Pick<Layout, 'databaseOf' | 'filesOf' | 'installOf'>;
  websites: HostedWebsites;
  /** Null: this process runs no PHP. */
  wordpress: EmbeddedWordPress | null;
  snapshots: Snapshots;
  chosen: ChosenParts;
  tables: ReturnType<typeof createBackupTables>;
  archives: PackedArchives;
  /** The WordPress of an install with what runs it; null if its website consists of files. `website`: of the install, if it is known. */
  requireWordPress(
    install: InstallRef,
    website?: WordPressWebsite | null,
  ): (EmbeddedWordPress & { facts: SiteFacts }) | null;
  recordWordPress(install: InstallRef, version: string): Promise<void>;
  /** Puts a database into its place after the files of a website were replaced. */
  adoptDatabase(install: InstallRef): Promise<void>;
  /** Shows visitors the files that have replaced those of a website. */
  showReplaced(install: InstallRef): Promise<void>;
}

/** Backups of the websites of this host: making, restoring, browsing and downloading them. */
export function createWebsiteBackups(options: BackupsOptions): Backups {
  const { layout, websites, wordpress, snapshots, chosen, archives, requireWordPress } = options;

  const restore: Host['restore'] = async (
    install,
    backupId,
    { wordpressVersion, ...given } = {},
    signal,
    report,
  ) => {
    const website = wordpressVersion === undefined ? null : websites.websiteOf(install.id);
    if (wordpressVersion !== undefined && website !== null && wordpress !== null) {
      const record = (version: string) => options.recordWordPress(install, version);
      const restored = () => restore(install, backupId, given, signal, report);
      return restoringCore(website, wordpressVersion, { versions: wordpress.versions, record }, restored);
    }
    const { parts = ALL_PARTS, from, restoreId } = given;
    // A website with WordPress would come back as one of files.
    if (!websites.isKnown(install.id)) throw asUnchanged(new MissingWebsiteError(install.name));
    const found = requireWordPress(install);
    requireParts(parts, found !== null);
    const { paths } = parts;
    const restoring = {
      ...(from ? { from } : {}),
      signal,
      report,
      async complete(next: string, present: string, restored: Snapshot) {
        const complete = paths === undefined ? completeRestored : completeChosen;
        await complete(next, present, parts, found !== null);
        await keepReplacementRecord(layout, install.id, next, restoreRecord(restoreId, restored) ?? null);
        // Before the exchange, so that a failure changes nothing.
        if (found === null || parts.database === 'none') return;
        const isCopy = (from ?? install).id !== install.id;
        await found.sites.replaceRestoredUrls({ install, isCopy, ...restoredIn(next) }, found.facts, signal);
        if (typeof parts.database === 'string') return;
        const { database: tables, dropAbsent = false } = parts;
        const folders = restoredIn(next);
        const live = join(layout.databaseOf(install.id), DATABASE);
        await found.sites.inFolders(folders, found.facts, (programs) =>
          mergeTables({ folder: folders.database, present: live, programs, tables, dropAbsent, signal }),
        );
        // The other tables are the present ones.
        await noteAddresses(join(next, PRIVATE), await notedAddresses(join(present, PRIVATE)));
      },
    };
    await snapshots.recover(install.id);
    const before = recordedRestore(await readReplacementRecord(layout, install.id), restoreId);
    const restoreFiles = async () => {
      if (before !== null) return before;
      if (paths === undefined) return snapshots.restore(install, backupId, restoring);
      return chosen.restore(install, backupId, { ...restoring, parts: { ...parts, paths } });
    };
    const restoreBoth = () => restoreFiles().finally(() => options.adoptDatabase(install));
    const snapshot =
      found === null
        ? await restoreFiles()
        : await found.wpCli.whileRefused(install.id, () => found.php.withoutProcess(install.id, restoreBoth));
    await options.showReplaced(install);
    if (found === null) return snapshot;
    const upgraded =
      parts.database === 'none'
        ? null
        : await upgradeRestored(found.runtimeOf({ ...install, facts: found.facts }), signal);
    // A copy must answer. A restored install returns to its own former state, even if that did not answer.
    if (from && from.id !== install.id) await options.requireHomePage(install, found.facts, signal);
    const warning = joinedWarnings([upgraded, await options.warning(install, found.facts, signal)]);
    return warning === null ? snapshot : { ...snapshot, warning };
  };

  return {
    async snapshot(install, backupId, signal, report) {
      // An install that is being deleted is set aside before its last backup.
      const found = requireWordPress(install, websites.heldWebsiteOf(install.id));
      if (found === null) return snapshots.snapshot(install, backupId, signal, report);
      if (found.php.isHeld(install.id)) throw new Error('the website is being restored');
      const make = () =>
        snapshots.snapshot(install, backupId, signal, report, (work, within) =>
          found.php.atRest(install.id, work, within),
        );
      return blamingWebsite(found.sites.withDatabaseCopy(install, found.facts, make, signal));
    },

    restore,

    async discardSnapshot(install, backupId) {
      await snapshots.discard(install, backupId);
      // Last, because until then it can be indexed.
      await chosen.forget(install.id, backupId);
      await options.tables.forget(install.id, backupId);
    },
    browseBackup: chosen.browseBackup,
    listBackupTables: options.tables.listBackupTables,
    readBackupFile: chosen.readBackupFile,
    heldBackups: (install) => snapshots.held(install.id),

    pack: (install, { backupId, archiveId }, signal) =>
      archives.pack(
        install.id,
        archiveId,
        (write) => snapshots.unpack(install, backupId, write, signal),
        signal,
      ),
    readPacked: (install, archiveId, part) => archives.read(install.id, archiveId, part),
    discardPacked: (install, archiveId) => archives.discard(install.id, archiveId),
  };
}
