import type { Caller } from '../../access/caller.ts';
import { authorize } from '../../access/permissions.ts';
import { timestamp } from '../../clock.ts';
import { lockRow } from '../../database/lock.ts';
import type { BackupStatus } from '../../database/tables.ts';
import { InvalidRequest, NotFound } from '../../failures.ts';
import type { PageOf, PageRequest } from '../../page.ts';
import type { Platform } from '../../platform.ts';
import { findStanding } from '../installs/store.ts';
import { createBackup, restoreBackup } from './jobs.ts';

export interface BackupView {
  id: string;
  status: BackupStatus;
}

/** A backup as the command line shows it. */
export interface BackupDetails extends BackupView {
  install_id: string;
  install_name: string;
  description: string;
  bytes: number | null;
  reason: string | null;
  /** Made by the daily schedule. */
  scheduled: boolean;
  created_at: string;
}

/** A backup as the portal lists it. */
export interface ListedBackup {
  id: string;
  description: string;
  status: BackupStatus;
  bytes: number | null;
  files: number | null;
  reason: string | null;
  scheduled: boolean;
  created_at: string;
  finished_at: string | null;
}

export type BackupService = ReturnType<typeof createBackupService>;

export function createBackupService({ database, queue, clock, random }: Platform) {
  const details = database.reader
    .selectFrom('backups as backup')
    .innerJoin('installs as install', 'install.id', 'backup.install_id')
    .select([
      'backup.id',
      'backup.status',
      'backup.install_id',
      'install.name as install_name',
      'backup.description',
      'backup.bytes',
      'backup.reason',
      'backup.scheduled',
      'backup.created_at',
    ]);

  async function findDetails(backupId: string): Promise<BackupDetails> {
    const backup = await details.where('backup.id', '=', backupId).executeTakeFirst();
    if (!backup) throw new NotFound();
    return backup;
  }

  async function findTarget(name: string): Promise<{ id: string; name: string }> {
    const install = await database.reader
      .selectFrom('installs')
      .select(['id', 'name', 'status'])
      .where('name', '=', name)
      .executeTakeFirst();
    if (!install) throw new InvalidRequest(`There is no install "${name}" to restore into.`);
    if (install.status !== 'active') {
      throw new InvalidRequest(
        `The install "${name}" is ${install.status}; only an active one can be restored into.`,
      );
    }
    return install;
  }

  return {
    async request(
      caller: Caller,
      installId: string,
      input: { description: string; notification_emails: string[] },
      requestId: string,
    ): Promise<BackupView> {
      const id = random.uuid();
      await database.write(async (transaction) => {
        const { queries } = transaction;
        await lockRow(transaction, 'installs', installId);
        authorize('install.work', 'install.read', await findStanding(queries, caller, installId));
        await queries
          .insertInto('backups')
          .values({
            id,
            install_id: installId,
            description: input.description.trim(),
            notification_emails: JSON.stringify([...new Set(input.notification_emails)]),
            status: 'requested',
            bytes: null,
            files: null,
            sha256: null,
            reason: null,
            requested_by: caller.userId,
            created_at: timestamp(clock),
            finished_at: null,
          })
          .execute();
        await queue.enqueue(transaction, createBackup, {
          payload: { backup_id: id, install_id: installId },
          lane: installId,
          requestId,
        });
      });
      return { id, status: 'requested' };
    },

    async get(caller: Caller, installId: string, backupId: string): Promise<BackupView> {
      const { reader } = database;
      authorize('install.read', 'install.read', await findStanding(reader, caller, installId));
      const backup = await reader
        .selectFrom('backups')
        .select(['id', 'status'])
        .where('id', '=', backupId)
        .where('install_id', '=', installId)
        .executeTakeFirst();
      if (!backup) throw new NotFound();
      return backup;
    },

    /** The latest first. Throws NotFound. */
    async list(_caller: Caller, _installId: string, _page: PageRequest): Promise<PageOf<ListedBackup>> {
      throw new Error('being built');
    },

    /** Returns the id of the operation. Throws NotFound, Forbidden, InvalidRequest. */
    async restore(
      _caller: Caller,
      _installId: string,
      _backupId: string,
      _intoInstallId: string | null,
    ): Promise<string> {
      throw new Error('being built');
    },

    /** For the command line: the backups of one install (by name) or of all, newest first. */
    listAll: (installName?: string): Promise<BackupDetails[]> =>
      details
        .$if(installName !== undefined, (query) => query.where('install.name', '=', installName ?? ''))
        .orderBy('backup.seq', 'desc')
        .execute(),

    /** For the command line: one backup, whosever it is. Throws NotFound. */
    find: findDetails,

    /**
     * For the command line: asks for a restore, into the install that the backup is of or into another, by its name. Returns the
     * job's id. Throws NotFound, InvalidRequest.
     */
    async requestRestore(
      backupId: string,
      into?: string,
    ): Promise<{ jobId: string; backup: BackupDetails; installName: string }> {
      const backup = await findDetails(backupId);
      if (backup.status !== 'completed') {
        throw new InvalidRequest(`The backup is ${backup.status}; only a completed one can be restored.`);
      }
      const target =
        into === undefined ? { id: backup.install_id, name: backup.install_name } : await findTarget(into);
      const jobId = await database.write((transaction) =>
        queue.enqueue(transaction, restoreBackup, {
          payload: { backup_id: backupId, install_id: target.id, from_id: backup.install_id },
          lane: target.id,
        }),
      );
      return { jobId, backup, installName: target.name };
    },
  };
}
