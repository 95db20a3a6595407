import { mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { allDone } from '../../../lib/concurrency.ts';
import { MINUTE_MS } from '../../../lib/durations.ts';
import { type InstallRef, PermanentHostError, type Snapshot } from '../../contract/host.ts';
import type { Databases } from '../daemons/databases.ts';
import type { HostedInstall } from '../isolation/hosted-install.ts';
import type { LinuxLayout } from '../machine/layout.ts';
import { runCommand } from '../machine/run-command.ts';
import { linkSite } from '../wordpress/site-files.ts';
import type { Websites } from '../wordpress/website.ts';
import { DamagedBackupError, type Description } from './archive-manifest.ts';
import type { Exchange, Workshop } from './exchange.ts';
import { writeTo } from './programs.ts';
import { canonicalId, explainRepository, type Repositories } from './repositories.ts';
import type { Restic } from './restic.ts';
import { siteHosts } from './site-hosts.ts';
import { readSnapshot } from './snapshot-read.ts';
import { unpackWebsite } from './website-tar.ts';

const SYNC_MS = 10 * MINUTE_MS;

export const restoredDumpOf = (layout: LinuxLayout, installId: string) =>
  join(layout.scratch, `restore-${canonicalId(installId)}.sql`);

/** Puts a backup in the place of a website: made whole and checked beside it, then exchanged. */
export function createRestorer({
  layout,
  databases,
  websites,
  repositories,
  exchange,
  log,
}: {
  layout: LinuxLayout;
  databases: Databases;
  websites: Pick<Websites, 'replaceUrls'>;
  repositories: Repositories;
  exchange: Exchange;
  log: Logger;
}) {
  async function restore(
    target: HostedInstall,
    backupId: string,
    from: InstallRef,
    signal: AbortSignal | undefined,
  ): Promise<Snapshot> {
    const { ref, sandbox, database, unixUser } = target;
    const home = layout.homeOf(ref.id);
    const owner = { database, unixUser };
    try {
      const [{ restic, id }, workshop] = await allDone([
        requireBackup(from, backupId, signal),
        exchange.prepare(home, owner, sandbox),
      ]);
      const restored = await fill(restic, id, target, workshop, from, signal);
      // The core that the website is on now, whichever it was on then.
      await linkSite(layout, { ...sandbox, home: workshop.folder });
      if (ref.id !== from.id) await takeOwnName(target, workshop, restored.description);
      await runCommand('/usr/bin/sync', ['--file-system', workshop.folder], { timeoutMs: SYNC_MS });
      signal?.throwIfAborted();
      await exchange.exchange(home, owner);
      return restored.snapshot;
    } catch (error) {
      await exchange.recover(home).catch((err: unknown) => {
        log.error(
          { err, install: ref.id },
          'a restore could not be undone; it is tried again when the host starts',
        );
      });
      throw explainRestore(explainRepository(error, from), from, backupId);
    }
  }

  async function requireBackup(
    from: InstallRef,
    backupId: string,
    signal: AbortSignal | undefined,
  ): Promise<{ restic: Restic; id: string }> {
    const restic = await repositories.open(from.id);
    const [id] = restic === null ? [] : await restic.find(backupId, signal);
    if (restic !== null && id !== undefined) return { restic, id };
    throw new PermanentHostError(`There is no backup ${backupId} of ${from.name} that this host can reach.`);
  }

  /** Fills the workshop from a snapshot, and checks all of it on the way. The database is loaded while files are still coming. */
  async function fill(
    restic: Restic,
    snapshotId: string,
    { ref, sandbox }: HostedInstall,
    workshop: Workshop,
    from: InstallRef,
    signal: AbortSignal | undefined,
  ): Promise<{ snapshot: Snapshot; description: Description }> {
    const dumpFile = restoredDumpOf(layout, ref.id);
    await mkdir(layout.scratch, { recursive: true, mode: 0o700 });
    await rm(dumpFile, { force: true });
    const dump = await open(dumpFile, 'wx', 0o600);
    const tar = unpackWebsite(layout, sandbox, workshop.folder);
    tar.stdout.resume();
    const seen: { description: Description | null } = { description: null };
    let loading: Promise<void> = Promise.resolve();
    try {
      const snapshot = await readSnapshot(restic, snapshotId, from, {
        signal,
        reader: {
          description(description) {
            seen.description = description;
          },
          dump: async (bytes) => void (await dump.writeFile(bytes)),
          async dumpEnded() {
            await dump.close();
            loading = databases.load(workshop.database, dumpFile, signal);
            // Awaited below; until then its failure must not count as unhandled.
            loading.catch(() => {});
          },
          files: (bytes) => writeTo(tar.stdin, bytes),
        },
      });
      tar.stdin.end();
      await tar.ended;
      await loading;
      if (seen.description === null) throw new Error('a backup without a description was read to its end');
      return { snapshot, description: seen.description };
    } catch (error) {
      const failure = await tar.stop();
      await loading.catch(() => {});
      signal?.throwIfAborted();
      throw failure ?? error;
    } finally {
      await dump.close();
      await rm(dumpFile, { force: true });
    }
  }

  /** A website that comes from another install is reached at its own name from now on. */
  async function takeOwnName(
    { sandbox, primaryHostname }: HostedInstall,
    workshop: Workshop,
    { primary_hostname }: Description,
  ): Promise<void> {
    const hosts = [primary_hostname, ...(await siteHosts(databases, workshop.database))];
    const others = [...new Set(hosts)].filter((host) => host !== primaryHostname);
    if (others.length > 0) await websites.replaceUrls(sandbox, workshop.database, others, primaryHostname);
  }

  return restore;
}

function explainRestore(error: unknown, from: InstallRef, backupId: string): unknown {
  if (!(error instanceof DamagedBackupError)) return error;
  return new PermanentHostError(
    `The backup ${backupId} of ${from.name} is damaged: ${error.message}. The website was not touched.`,
    { cause: error },
  );
}
