import type { Queries } from '../../database/database.ts';
import type { Host } from '../../hosting/contract/host.ts';
import type { InstallRef } from '../../hosting/contract/install-ref.ts';
import { HostUnreachableError } from '../../hosting/remote/client.ts';
import { defineJob, type JobKind } from '../../jobs/job.ts';
import type { Schedule } from '../../jobs/schedule.ts';
import { timestamp } from '../../lib/clock.ts';
import type { Platform } from '../../platform/platform.ts';
import { reconcileBackups, reconciliationLane } from './jobs.ts';
import {
  backedUpInstalls,
  completedBackups,
  hasKeptBackups,
  isWaiting,
  type ListedBackup,
  noteMissing,
} from './missing-store.ts';
import { forgetPoints, type Point, pointsOf } from './recovery-points/store.ts';
import { isAmong } from './restorable-store.ts';

/** Listed backups that are not in the table of backups. */
export interface OtherBackups {
  /** Installs of a host, or with undefined of all hosts, with their backups. */
  list(
    queries: Queries,
    hostId: string | null | undefined,
  ): Promise<(InstallRef & { host_id: string | null; backups: ListedBackup[] })[]>;
  /** See {@link noteMissing}. */
  noteMissing(
    queries: Queries,
    installId: string,
    backupIds: readonly string[],
    since: string | null,
  ): Promise<void>;
}

/** Every day; at the start of a server and of a host, {@link requestReconciliation} asks for it. */
export function backupReconciliationSchedule({ queue }: Pick<Platform, 'queue'>): Schedule {
  return {
    name: reconcileBackups.name,
    cron: '11 5 * * *',
    async enqueue(transaction) {
      await queue.enqueue(transaction, reconcileBackups, { payload: {}, lane: reconcileBackups.name });
    },
  };
}

/** Enqueues the comparison of a host's backups, unless one waits already or nothing is listed. Null: the server's own process. */
export async function requestReconciliation(
  { database, queue }: Pick<Platform, 'database' | 'queue'>,
  hostId: string | null,
): Promise<void> {
  const lane = reconciliationLane(hostId);
  if (!(await hasKeptBackups(database.reader, hostId)) && !(await hasBackups(database.reader, hostId)))
    return;
  await database.write(async (transaction) => {
    if (await isWaiting(transaction.queries, lane)) return;
    await queue.enqueue(transaction, reconcileBackups, { payload: { host_id: hostId }, lane });
  });
}

async function hasBackups(reader: Queries, hostId: string | null): Promise<boolean> {
  for await (const page of backedUpInstalls(reader, hostId)) if (page.length > 0) return true;
  return false;
}

/**
 * Compares the lists of backups and recovery points with what the hosts hold. A backup that its host does not hold is missing until it is there again, and
 * such a recovery point is forgotten. If a host cannot read its backups, what is known about them stays.
 */
export function reconcileBackupsKind(
  platform: Platform,
  host: Pick<Host, 'heldBackups'>,
  others: OtherBackups,
): JobKind {
  const { database, clock, log } = platform;

  /** Returns the numbers of backups that are newly missing, and there again. */
  async function compare(
    { id, name }: InstallRef,
    listed: readonly ListedBackup[],
    note: (queries: Queries, backupIds: string[], since: string | null) => Promise<void>,
    points: readonly Point[] = [],
  ): Promise<{ missing: number; found: number }> {
    const held = new Set(await host.heldBackups({ id, name }));
    const gone = points.filter((point) => !isAmong(point, held)).map((point) => point.id);
    if (gone.length > 0) await database.write(({ queries }) => forgetPoints(queries, id, gone));
    const missing = listed.filter((backup) => backup.missing_since === null && !held.has(backup.id));
    const found = listed.filter((backup) => backup.missing_since !== null && held.has(backup.id));
    if (missing.length + found.length > 0) {
      await database.write(async ({ queries }) => {
        await note(
          queries,
          missing.map((backup) => backup.id),
          timestamp(clock),
        );
        await note(
          queries,
          found.map((backup) => backup.id),
          null,
        );
      });
    }
    return { missing: missing.length, found: found.length };
  }

  return defineJob({
    ...reconcileBackups,
    async run({ host_id: hostId }, { signal }) {
      const silent = new Set<string | null>();
      const sum = { missing: 0, found: 0, unread: 0 };

      async function add(
        install: InstallRef & { host_id: string | null },
        comparing: () => ReturnType<typeof compare>,
      ): Promise<void> {
        signal.throwIfAborted();
        if (silent.has(install.host_id)) return;
        try {
          const { missing, found } = await comparing();
          sum.missing += missing;
          sum.found += found;
        } catch (err) {
          signal.throwIfAborted();
          if (err instanceof HostUnreachableError) silent.add(install.host_id);
          sum.unread += 1;
          log.warn({ err, install: install.id }, 'could not list the backups that a host holds');
        }
      }

      for await (const page of backedUpInstalls(database.reader, hostId)) {
        for (const install of page) {
          // Read before the host is asked, because a backup made meanwhile is not missing.
          await add(install, async () => {
            const points = await pointsOf(database.reader, install.id);
            return compare(install, await completedBackups(database.reader, install.id), noteMissing, points);
          });
        }
      }
      for (const install of await others.list(database.reader, hostId)) {
        await add(install, () =>
          compare(install, install.backups, (queries, ids, since) =>
            others.noteMissing(queries, install.id, ids, since),
          ),
        );
      }
      if (sum.missing > 0) {
        log.error(sum, 'backups are missing from their repository; "homeport doctor" says what to do');
      } else if (sum.found > 0) log.info(sum, 'missing backups are there again');
    },
  });
}
