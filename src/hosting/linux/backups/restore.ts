import { mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { allDone } from '../../../lib/concurrency.ts';
import { MINUTE_MS } from '../../../lib/durations.ts';
import {
  type InstallRef,
  PermanentHostError,
  type ReportProgress,
  type RestoredParts,
  type Snapshot,
} from '../../contract/host.ts';
import type { Databases } from '../daemons/databases.ts';
import type { HostedInstall } from '../isolation/hosted-install.ts';
import type { LinuxLayout } from '../machine/layout.ts';
import { runCommand } from '../machine/run-command.ts';
import { linkSite } from '../wordpress/site-files.ts';
import type { Websites } from '../wordpress/website.ts';
import { DamagedBackupError, type Description } from './archive-manifest.ts';
import { requireSeparableTables } from './chosen-tables.ts';
import { writeTo } from './programs.ts';
import { canonicalId, explainRepository, type Repositories } from './repositories.ts';
import type { Restic } from './restic.ts';
import { siteHosts } from './site-hosts.ts';
import { readSnapshot } from './snapshot-read.ts';
import type { StagedWebsite, WebsiteReplacement } from './website-replacement.ts';
import { unpackWebsite } from './website-tar.ts';

const SYNC_MS = 10 * MINUTE_MS;

export const restoredDumpOf = (layout: LinuxLayout, installId: string) =>
  join(layout.scratch, `restore-${canonicalId(installId)}.sql`);

/** Restores a backup: builds and verifies the website beside the present one, and then replaces that. */
export function createRestorer({
  layout,
  databases,
  websites,
  repositories,
  replacement,
  log,
}: {
  layout: LinuxLayout;
  databases: Databases;
  websites: Pick<Websites, 'replaceUrls'>;
  repositories: Repositories;
  replacement: WebsiteReplacement;
  log: Logger;
}) {
  async function restore(
    target: HostedInstall,
    backupId: string,
    {
      from,
      parts,
      signal,
      report,
    }: {
      from: InstallRef;
      parts: RestoredParts;
      signal: AbortSignal | undefined;
      report?: ReportProgress | undefined;
    },
  ): Promise<Snapshot> {
    const { ref, sandbox, database, unixUser } = target;
    const home = layout.homeOf(ref.id);
    const owner = { database, unixUser };
    try {
      const [{ restic, id }, staged] = await allDone([
        requireBackup(repositories, from, backupId, signal),
        replacement.prepare(home, { ...owner, parts }, sandbox),
      ]);
      const restored = await fill(restic, id, target, { staged, parts, report }, from, signal);
      // The website keeps its present core, whatever version the backup had.
      if (parts.files) await linkSite(layout, { ...sandbox, home: staged.folder });
      if (typeof parts.database !== 'string') {
        const pair = { from: staged.database, to: database };
        await requireSeparableTables(databases, pair, parts.database, parts.dropAbsent ?? false);
      }
      if (ref.id !== from.id && parts.database !== 'none') {
        await takeOwnName(target, staged, restored.description);
      }
      await runCommand('/usr/bin/sync', ['--file-system', staged.folder], { timeoutMs: SYNC_MS });
      signal?.throwIfAborted();
      await replacement.replace(home, { ...owner, parts });
      return restored.snapshot;
    } catch (error) {
      await replacement.recover(home).catch((err: unknown) => {
        log.error(
          { err, install: ref.id },
          'could not undo a restore; trying again at the next start of the host',
        );
      });
      throw explainDamage(explainRepository(error, from), from, backupId, ' The website is unchanged.');
    }
  }

  /**
   * Fills the staging folder from a snapshot while verifying all of it. The database is loaded while files are still arriving.
   */
  async function fill(
    restic: Restic,
    snapshotId: string,
    { ref, sandbox }: HostedInstall,
    {
      staged,
      parts,
      report,
    }: { staged: StagedWebsite; parts: RestoredParts; report: ReportProgress | undefined },
    from: InstallRef,
    signal: AbortSignal | undefined,
  ): Promise<{ snapshot: Snapshot; description: Description }> {
    const dumpFile = restoredDumpOf(layout, ref.id);
    await mkdir(layout.scratch, { recursive: true, mode: 0o700 });
    await rm(dumpFile, { force: true });
    const dump = await open(dumpFile, 'wx', 0o600);
    const tar = parts.files ? unpackWebsite(layout, sandbox, staged.folder) : null;
    tar?.stdout.resume();
    const withDatabase = parts.database !== 'none';
    const seen: { description: Description | null } = { description: null };
    let loading: Promise<void> = Promise.resolve();
    let done = 0;
    const count = (bytes: Buffer) => {
      done += bytes.length;
      report?.(done, null);
    };
    try {
      const snapshot = await readSnapshot(restic, snapshotId, from, {
        signal,
        reader: {
          description(description) {
            seen.description = description;
          },
          async dump(bytes) {
            count(bytes);
            if (withDatabase) await dump.writeFile(bytes);
          },
          async dumpEnded() {
            await dump.close();
            if (!withDatabase) return;
            loading = databases.load(staged.database, dumpFile, signal);
            // Awaited below; until then its failure must not count as unhandled.
            loading.catch(() => {});
          },
          async files(bytes) {
            count(bytes);
            if (tar !== null) await writeTo(tar.stdin, bytes);
          },
        },
      });
      tar?.stdin.end();
      await tar?.ended;
      await loading;
      if (seen.description === null) throw new Error('read a backup without a description to its end');
      return { snapshot, description: seen.description };
    } catch (error) {
      const failure = (await tar?.stop()) ?? null;
      await loading.catch(() => {});
      signal?.throwIfAborted();
      throw failure ?? error;
    } finally {
      await dump.close();
      await rm(dumpFile, { force: true });
    }
  }

  /** The URLs of a website from another install get this install's main name and scheme. */
  async function takeOwnName(
    { sandbox, primaryHostname, secure }: HostedInstall,
    staged: StagedWebsite,
    { primary_hostname }: Description,
  ): Promise<void> {
    const from = [primary_hostname, ...(await siteHosts(databases, staged.database))];
    const scheme = secure ? 'https' : 'http';
    await websites.replaceUrls(sandbox, staged.database, { from, to: primaryHostname, scheme });
  }

  return restore;
}

/** The snapshot of a backup. Rejects with a {@link PermanentHostError} if there is none. */
export async function requireBackup(
  repositories: Repositories,
  from: InstallRef,
  backupId: string,
  signal: AbortSignal | undefined,
): Promise<{ restic: Restic; id: string }> {
  const restic = await repositories.open(from.id);
  const [id] = restic === null ? [] : await restic.find(backupId, signal);
  if (restic !== null && id !== undefined) return { restic, id };
  throw new PermanentHostError(`This host has no backup ${backupId} of ${from.name}.`);
}

export function explainDamage(error: unknown, from: InstallRef, backupId: string, outcome = ''): unknown {
  if (!(error instanceof DamagedBackupError)) return error;
  return new PermanentHostError(
    `The backup ${backupId} of ${from.name} is damaged: ${error.message}.${outcome}`,
    { cause: error },
  );
}
