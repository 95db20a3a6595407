import type { Queries, Transaction } from '../../../database/database.ts';
import { lockRow } from '../../../database/lock.ts';
import type { RebuildStep } from '../../../database/tables/rebuilds.ts';
import { timestamp } from '../../../lib/clock.ts';
import { DAY_MS, MINUTE_MS } from '../../../lib/durations.ts';
import { OperatorError } from '../../../lib/operator-error.ts';
import type { Platform } from '../../../platform/platform.ts';
import { allHosts, findHost, type KnownHost } from '../../hosts/store.ts';
import { findWebsite, lostDataOf } from '../../websites/installs/website-store.ts';
import { rebuildInstall } from './jobs.ts';
import {
  actionsBetween,
  freePending,
  insertRebuild,
  installsByVisits,
  latestRebuilds,
  openRebuild,
} from './rebuild-store.ts';

/** A rebuild as the operator sees it. */
export interface RebuildView {
  jobId: string;
  installId: string;
  name: string;
  step: RebuildStep;
  /** The name of the host where the install is or comes; null while it is on the lost one. */
  host: string | null;
  backupId: string | null;
  backupAt: string | null;
  /** Between the backup and the loss; null without a backup. */
  minutesLost: number | null;
  /** What the platform knows of that time: names of actions. Their effect on settings stays, that on files and database is lost. */
  changesLost: string[];
  reason: string | null;
}

type Rebuild = Awaited<ReturnType<typeof latestRebuilds>>[number];

/** Visits of this time decide which website is rebuilt first. */
const VISITED_MS = 7 * DAY_MS;

/** Rebuilds the installs of lost hosts, for the command line. */
export function createRebuildService(platform: Pick<Platform, 'database' | 'queue' | 'clock' | 'random'>) {
  const { database, queue, clock, random } = platform;

  async function named(queries: Queries, name: string): Promise<KnownHost> {
    const host = await findHost(queries, { name });
    if (!host) throw new OperatorError(`There is no host "${name}"; "homeport host list" shows them all.`);
    return host;
  }

  /**
   * Requests a rebuild of every install of a lost host, the most visited first. Those under way go on, and those that failed are tried again. `to`: the
   * names of the hosts to choose from; empty for all. Throws OperatorError.
   */
  async function request(name: string, to: readonly string[]): Promise<void> {
    const host = await named(database.reader, name);
    const { id: from_host, lost_at } = host;
    if (lost_at === null) {
      throw new OperatorError(
        `Only the installs of a lost host are rebuilt. Give it up first: "homeport host lost ${name}".`,
      );
    }
    const hosts: string[] = [];
    for (const one of to) {
      const target = await named(database.reader, one);
      if (target.lost_at !== null) throw new OperatorError(`The host "${one}" was given up as lost.`);
      hosts.push(target.id);
    }
    await database.write(({ queries }) => freePending(queries, from_host));
    const day = timestamp(clock, -VISITED_MS).slice(0, 10);
    const begin = async (
      transaction: Transaction,
      install: { id: string; name: string },
      present: Partial<Rebuild> & Pick<Rebuild, 'step'>,
    ) => {
      const id = random.uuid();
      const payload = { rebuild_id: id, ...(hosts.length > 0 ? { hosts } : {}) };
      const job_id = await queue.enqueue(transaction, rebuildInstall, {
        payload,
        lane: install.id,
        ahead: true,
      });
      await insertRebuild(transaction.queries, {
        ...{ id, install_id: install.id, install_name: install.name, from_host, job_id, lost_at },
        ...{ requested_at: timestamp(clock), reason: null, finished_at: null },
        ...{ step: present.step, to_host: present.to_host ?? null },
        ...{ backup_id: present.backup_id ?? null, backup_at: present.backup_at ?? null },
      });
    };
    for (const install of await installsByVisits(database.reader, from_host, day)) {
      await database.write(async (transaction) => {
        const { queries } = transaction;
        await lockRow(transaction, 'installs', install.id);
        const isHere = (await findWebsite(queries, { id: install.id }))?.host_id === from_host;
        if (!isHere || (await openRebuild(queries, install.id)) !== undefined) return;
        await begin(transaction, install, { step: 'placing' });
      });
    }
    for (const failed of await latestRebuilds(database.reader, from_host)) {
      if (failed.step !== 'failed' || failed.backup_id === null || failed.to_host === null) continue;
      await database.write(async (transaction) => {
        const { queries } = transaction;
        const { install_id: id, install_name } = failed;
        await lockRow(transaction, 'installs', id);
        // A user may have restored a backup since.
        const isEmpty = (await lostDataOf(queries, id)) !== null;
        const isThere = (await findWebsite(queries, { id }))?.host_id === failed.to_host;
        if (!isEmpty || !isThere || (await openRebuild(queries, id)) !== undefined) return;
        const { to_host, backup_id, backup_at } = failed;
        await begin(
          transaction,
          { id, name: install_name },
          { step: 'restoring', to_host, backup_id, backup_at },
        );
      });
    }
  }

  /** What became of the installs of a host at its last loss. Throws OperatorError. */
  async function report(name: string): Promise<RebuildView[]> {
    const { reader } = database;
    const { id } = await named(reader, name);
    const names = new Map((await allHosts(reader)).map((host) => [host.id, host.name]));
    return Promise.all(
      (await latestRebuilds(reader, id)).map(async (row) => {
        const { backup_at, lost_at } = row;
        const isThere = row.backup_id !== null && row.to_host !== null;
        return {
          ...{ jobId: row.job_id, installId: row.install_id, name: row.install_name, step: row.step },
          host: isThere ? (names.get(row.to_host ?? '') ?? row.to_host) : null,
          ...{ backupId: row.backup_id, backupAt: backup_at, reason: row.reason },
          minutesLost: backup_at === null ? null : minutesBetween(backup_at, lost_at),
          changesLost:
            backup_at === null
              ? []
              : await actionsBetween(reader, row.install_id, { after: backup_at, until: lost_at }),
        };
      }),
    );
  }

  return { request, report };
}

const minutesBetween = (from: string, to: string): number =>
  Math.max(0, Math.round((Date.parse(to) - Date.parse(from)) / MINUTE_MS));
