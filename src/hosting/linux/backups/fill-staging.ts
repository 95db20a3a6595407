import { lchown, mkdir, open, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type FreeSpace, freeSpace } from '../../../lib/free-space.ts';
import { writeTo } from '../../../lib/started-program.ts';
import type { InstallRef } from '../../contract/install-ref.ts';
import type { ReportProgress } from '../../contract/progress.ts';
import type { RestoredParts, Snapshot } from '../../contract/snapshots.ts';
import { inRestoredDatabase } from '../../websites/urls/replace-urls.ts';
import type { Databases } from '../daemons/databases.ts';
import type { LoadingUser } from '../daemons/foreign-dump.ts';
import {
  LEAST_FREE_BYTES_OF_OWN,
  LOOK_EVERY_BYTES,
  requireFreeSpace,
  watchingDatabase,
} from '../daemons/watch-database.ts';
import type { HostedInstall } from '../isolation/hosted-install.ts';
import { foldersOf } from '../isolation/sandbox.ts';
import type { LinuxLayout } from '../machine/layout.ts';
import type { Websites } from '../wordpress/website.ts';
import { alignCopy } from './align-copy.ts';
import type { Description } from './archive-manifest.ts';
import { type IndexedBackup, readSpans } from './archive-parts.ts';
import { canonicalId } from './repositories.ts';
import type { Restic } from './restic.ts';
import { describedBackup, dumpSpans, fileSpans, readMembers } from './restore-chosen.ts';
import { siteHosts } from './site-hosts.ts';
import { readSnapshot } from './snapshot-read.ts';
import type { StagedWebsite } from './website-replacement.ts';
import { unpackWebsite } from './website-tar.ts';

/** A copied database may exceed the limit as its source can, until its quota notices. */
const TOLERANCE = 1.1;
/** In the staging folder: an empty website, whose configuration replaces URLs of a copy. */
const EMPTY = 'empty';

export const restoredDumpOf = (layout: LinuxLayout, installId: string) =>
  join(layout.scratch, `restore-${canonicalId(installId)}.sql`);

/** How a staging folder is filled. */
interface Filling {
  staged: StagedWebsite;
  parts: RestoredParts;
  report: ReportProgress | undefined;
  /** The staging folder has the files of this backup already, and the snapshot has what changed since. */
  base: string | undefined;
}

/** Fills the staging folder of a website from a backup, and loads its second database. */
export function createStagingFiller({
  layout,
  databases,
  websites,
  free = freeSpace,
}: {
  layout: LinuxLayout;
  databases: Databases;
  websites: Pick<Websites, 'makeImportedFiles' | 'replaceUrls'>;
  /** Free space of a disk. */
  free?: FreeSpace | undefined;
}) {
  /**
   * Fills the staging folder from a snapshot while verifying all of it. The database is loaded while files are still arriving.
   */
  async function fill(
    restic: Restic,
    snapshotId: string,
    target: HostedInstall,
    { staged, parts, report, base }: Filling,
    from: InstallRef,
    signal: AbortSignal | undefined,
  ): Promise<Snapshot> {
    const { ref, sandbox } = target;
    const dumpFile = restoredDumpOf(layout, ref.id);
    await mkdir(layout.scratch, { recursive: true, mode: 0o700 });
    await rm(dumpFile, { force: true });
    const dump = await open(dumpFile, 'wx', 0o600);
    const tar = parts.files ? unpackWebsite(layout, sandbox, staged.folder) : null;
    tar?.stdout.resume();
    const withDatabase = parts.database !== 'none';
    const seen: { description: Description | null } = { description: null };
    let loading: Promise<void> = Promise.resolve();
    const failed = new AbortController();
    const either = signal === undefined ? failed.signal : AbortSignal.any([signal, failed.signal]);
    let done = 0;
    let checked = 0;
    /** Restores share the disk with all websites. Looks at it now and then. */
    const requireSpace = async (folder: string) => {
      if (done < checked) return;
      await requireFreeSpace(folder, { ...marginOf(ref, from), free });
      checked = done + LOOK_EVERY_BYTES;
    };
    const count = (bytes: Buffer) => {
      done += bytes.length;
      report?.(done, null);
    };
    try {
      const snapshot = await readSnapshot(restic, snapshotId, from, {
        signal: either,
        base,
        reader: {
          description(description) {
            seen.description = description;
          },
          async dump(bytes) {
            if (withDatabase) {
              await requireSpace(layout.scratch);
              await dump.writeFile(bytes);
            }
            count(bytes);
          },
          async dumpEnded() {
            await dump.close();
            if (!withDatabase) return;
            loading = loadDatabase(target, staged, dumpFile, from, seen.description, either);
            // Awaited below; until then, its failure ends the reading.
            loading.catch((error: unknown) => failed.abort(error));
          },
          kept: (list) => alignCopy({ layout, sandbox, folder: staged.folder }, list, either),
          async files(bytes) {
            if (tar !== null) {
              await requireSpace(staged.folder);
              await writeTo(tar.stdin, bytes);
            }
            count(bytes);
          },
        },
      });
      tar?.stdin.end();
      await tar?.ended;
      await loading;
      return snapshot;
    } catch (error) {
      failed.abort(error);
      const failure = (await tar?.stop()) ?? null;
      await loading.catch(() => {});
      signal?.throwIfAborted();
      throw failure ?? error;
    } finally {
      await dump.close();
      await rm(dumpFile, { force: true });
    }
  }

  /** As {@link fill}, with the chosen parts of a backup only. restic verifies every piece of them. */
  async function fillChosen(
    backup: IndexedBackup,
    target: HostedInstall,
    { staged, parts, report }: Filling,
    from: InstallRef,
    signal: AbortSignal | undefined,
  ): Promise<Snapshot> {
    const { contents } = backup;
    const isCopy = target.ref.id !== from.id;
    const ofDump = dumpSpans(contents, parts, isCopy);
    const ofFiles = parts.files ? fileSpans(contents, parts.paths ?? []) : [];
    const total = [...(ofDump ?? []), ...ofFiles].reduce((sum, { length }) => sum + length, 0);
    const description = await describedBackup(backup, from, signal);
    let done = 0;
    let checked = 0;
    async function* counted(pieces: AsyncIterable<Buffer>, folder: string): AsyncGenerator<Buffer> {
      for await (const bytes of pieces) {
        if (done >= checked) {
          await requireFreeSpace(folder, { ...marginOf(target.ref, from), free });
          checked = done + LOOK_EVERY_BYTES;
        }
        done += bytes.length;
        report?.(Math.min(done, total), total);
        yield bytes;
      }
    }
    if (ofFiles.length > 0) {
      const tar = unpackWebsite(layout, target.sandbox, staged.folder);
      tar.stdout.resume();
      try {
        for await (const bytes of counted(readMembers(backup, ofFiles, signal), staged.folder)) {
          await writeTo(tar.stdin, bytes);
        }
        tar.stdin.end();
        await tar.ended;
      } catch (error) {
        const failure = await tar.stop();
        signal?.throwIfAborted();
        throw failure ?? error;
      }
    }
    if (ofDump !== null) {
      const dumpFile = restoredDumpOf(layout, target.ref.id);
      await mkdir(layout.scratch, { recursive: true, mode: 0o700 });
      await rm(dumpFile, { force: true });
      try {
        await writeFile(dumpFile, counted(readSpans(backup, ofDump, signal), layout.scratch), {
          flag: 'wx',
          mode: 0o600,
        });
        const loading = signal ?? new AbortController().signal;
        await loadDatabase(target, staged, dumpFile, from, description, loading);
      } finally {
        await rm(dumpFile, { force: true });
      }
    }
    return contents.summary();
  }

  /**
   * Loads a dump. That of another install runs as a user with rights on the second database only, and gets this install's main
   * name and scheme. A backup of the install itself may have any size, because a checkpoint has to come back.
   */
  async function loadDatabase(
    target: HostedInstall,
    { folder, database }: StagedWebsite,
    file: string,
    from: InstallRef,
    description: Description | null,
    signal: AbortSignal,
  ): Promise<void> {
    if (description === null) throw new Error('a backup has no description');
    const isCopy = target.ref.id !== from.id;
    const mostBytes = isCopy ? layout.limits.bytes : null;
    const { leastBytes: leastFreeBytes } = marginOf(target.ref, from);
    const limits = { mostBytes, tolerance: TOLERANCE, folder: layout.mariadb, leastFreeBytes, free };
    const watched = { database, ...limits, signal };
    await watchingDatabase(databases, watched, (watching) => {
      if (!isCopy) return databases.load(database, file, watching);
      return databases.loadForeign(database, file, {
        signal: watching,
        adapt: (as) => takeOwnName(target, { folder, database }, description, as, watching),
      });
    });
  }

  /**
   * The URLs of a website from another install get this install's main name and scheme, in the configuration of an empty website:
   * no PHP of a customer runs.
   */
  async function takeOwnName(
    { sandbox, primaryHostname, secure, database }: HostedInstall,
    staged: StagedWebsite,
    { primary_hostname }: Description,
    as: LoadingUser,
    signal: AbortSignal,
  ): Promise<void> {
    const empty = { ...sandbox, home: join(staged.folder, EMPTY) };
    const { htdocs } = foldersOf(layout, empty);
    await mkdir(empty.home, { mode: 0o711 });
    await mkdir(htdocs, { mode: 0o700 });
    await lchown(htdocs, sandbox.uid, sandbox.gid);
    const site = { primaryHostname, secure, database, tablePrefix: 'wp_' };
    await websites.makeImportedFiles(empty, site);
    const from = [primary_hostname, ...(await siteHosts(as, staged.database))];
    const scheme = secure ? 'https' : 'http';
    const { login } = as;
    const wanted = { from, to: primaryHostname, scheme, login, signal } as const;
    await inRestoredDatabase(websites.replaceUrls(empty, staged.database, wanted));
  }

  return { fill, fillChosen };
}

/** The free space that a restore leaves. An install's own backup brings back what was there, also on a disk that is almost full. */
function marginOf(target: InstallRef, from: InstallRef): { leastBytes?: number } {
  return target.id === from.id ? { leastBytes: LEAST_FREE_BYTES_OF_OWN } : {};
}
