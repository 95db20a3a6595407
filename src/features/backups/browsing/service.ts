import { createHash } from 'node:crypto';
import type { Caller } from '../../../access/caller.ts';
import { authorize, type ResourceAccess, type Verb } from '../../../access/permissions.ts';
import {
  type BackupBrowser,
  type BackupFilePart,
  type BackupFolder,
  type BackupRefusal,
  type BackupTables,
  MOST_BACKUP_ENTRIES,
} from '../../../hosting/contract/backup-contents.ts';
import { isBackupPath } from '../../../hosting/contract/backup-path.ts';
import { PermanentHostError } from '../../../hosting/contract/errors.ts';
import type { InstallRef } from '../../../hosting/contract/install-ref.ts';
import { timestamp } from '../../../lib/clock.ts';
import { HOUR_MS } from '../../../lib/durations.ts';
import {
  BeingPrepared,
  Conflict,
  InvalidRequest,
  invalidValue,
  NotFound,
  UpstreamFailed,
} from '../../../lib/failures.ts';
import type { PageRequest } from '../../../lib/page.ts';
import type { Platform } from '../../../platform/platform.ts';
import { findInstallAccess } from '../../websites/installs/store.ts';
import { type DownloadLinks, FILES_PATH, signedLinks } from '../download-links.ts';
import { requirePresent } from '../require-present.ts';
import { type BackupDetails, findBackupDetails } from '../store.ts';

/** A file of a backup that a link opens. */
export interface LinkedFile {
  backupId: string;
  install: InstallRef;
  path: string;
  etag: string;
  size: number;
}

export type BackupBrowsingService = ReturnType<typeof createBackupBrowsing>;

const LINK_MS = HOUR_MS;
/** How often a download requests a file that its host still fetches. The host answers each request after some seconds. */
const MOST_QUESTIONS = 60;

/** Lists the content of backups, and links to their files. */
export function createBackupBrowsing(
  { database, clock, config, sealer, log, activity }: Platform,
  host: BackupBrowser,
) {
  const { reader } = database;
  const links: DownloadLinks = signedLinks(sealer, {
    purpose: 'backup-file-links',
    address: `${config.publicUrl.replace(/\/$/, '')}${FILES_PATH}`,
  });

  /** A backup that can be browsed, and its install. */
  async function admitted(
    caller: Caller,
    installId: string,
    backupId: string,
    permission: Verb,
  ): Promise<{
    backup: BackupDetails;
    install: InstallRef;
    access: ResourceAccess & { account_id: string };
  }> {
    const access = await findInstallAccess(reader, caller, installId);
    authorize(permission, 'install.read', access);
    const backup = await findBackupDetails(reader, backupId);
    if (!backup || backup.install_id !== installId || backup.copy_job_id !== null) throw new NotFound();
    if (backup.status !== 'completed') {
      throw new InvalidRequest(`The backup is ${backup.status}; only a completed one can be browsed.`);
    }
    requirePresent(backup);
    return { backup, access, install: { id: installId, name: backup.install_name } };
  }

  async function ask<Answer>(
    { id }: InstallRef,
    field: string,
    asked: Promise<Answer | BackupRefusal>,
  ): Promise<Answer> {
    const answer = await asked.catch((cause: unknown) => {
      if (cause instanceof PermanentHostError) throw new Conflict(cause.message);
      log.warn({ err: cause, install: id }, 'the host did not show a backup');
      throw new UpstreamFailed('The host of the website did not answer. Try again in a minute.', cause);
    });
    if (!isRefusal(answer)) return answer;
    const { refused, reason } = answer;
    if (refused === 'reading') throw new BeingPrepared(reason, { resource: 'Backup', field: 'backup_id' });
    if (refused === 'path') throw invalidValue('Backup', field, 'unknown', reason);
    throw new Conflict(`${reason} Choose another backup.`);
  }

  const readPart = (install: InstallRef, backupId: string, path: string, offset: number, length: number) =>
    host.readBackupFile(install, backupId, { path, offset, length });

  return {
    /** Lists a folder, folders first, then by name. Throws NotFound, InvalidRequest, BeingPrepared, Conflict, UpstreamFailed. */
    async files(
      caller: Caller,
      installId: string,
      backupId: string,
      { path: given = '', offset, limit }: PageRequest & { path?: string | undefined },
    ): Promise<BackupFolder & { folder: string }> {
      const folder = given.replace(/^\/+|\/+$/g, '');
      if (folder !== '' && !isBackupPath(folder)) throw invalidPath();
      const { install } = await admitted(caller, installId, backupId, 'install.read');
      const page = { offset, limit: Math.min(limit, MOST_BACKUP_ENTRIES) };
      const found = await ask(install, 'path', host.browseBackup(install, backupId, { folder, ...page }));
      return { ...found, folder };
    },

    /** Lists the tables by name. Throws as {@link files}. */
    async tables(
      caller: Caller,
      installId: string,
      backupId: string,
      { offset, limit }: PageRequest,
    ): Promise<BackupTables> {
      const { install } = await admitted(caller, installId, backupId, 'install.read');
      const page = { offset, limit: Math.min(limit, MOST_BACKUP_ENTRIES) };
      return ask(install, 'backup_id', host.listBackupTables(install, backupId, page));
    },

    /** For the command line: the size of a file. Throws as {@link files}. */
    async look(caller: Caller, installId: string, backupId: string, path: string): Promise<{ size: number }> {
      if (!isBackupPath(path)) throw invalidPath();
      const { install } = await admitted(caller, installId, backupId, 'install.work');
      const { size } = await ask(install, 'path', readPart(install, backupId, path, 0, 1));
      return { size };
    },

    /**
     * Makes a link to a file, which can hold secrets of the website. Throws as {@link files}, and Forbidden for users who may not work on
     * the install.
     */
    async createLink(caller: Caller, installId: string, backupId: string, path: string) {
      const { backup, install, access } = await admitted(caller, installId, backupId, 'install.work');
      // It also shows that there is such a file.
      const { size } = await ask(install, 'path', readPart(install, backupId, path, 0, 1));
      const expiresAt = timestamp(clock, LINK_MS);
      await database.write((transaction) =>
        activity.record(transaction, caller, access.account_id, {
          action: 'backup.download_file',
          subject: { id: backupId, name: backup.description },
          installId,
          details: { path },
        }),
      );
      return {
        download_uri: links.linkTo(backupId, expiresAt, { path }),
        size_bytes: size,
        expires_at: expiresAt,
      };
    },

    /** The file that a link opens; null if the link is invalid or has expired, or its backup is gone. */
    async findByLink(
      backupId: string,
      path: string,
      parameters: { expires: string; signature: string },
    ): Promise<LinkedFile | null> {
      if (!links.isValid(backupId, { ...parameters, further: { path } }, clock.now())) return null;
      const backup = await findBackupDetails(reader, backupId);
      if (!backup || backup.missing_since !== null) return null;
      const install = { id: backup.install_id, name: backup.install_name };
      const { size } = await whenFetched(() => readPart(install, backupId, path, 0, 1));
      const etag = createHash('sha256').update(`${backupId}/${path}`).digest('hex');
      return { backupId, install, path, size, etag };
    },

    /** Reads a part of the file. Rejects with a {@link PermanentHostError} if that is not possible any more. */
    async read(
      { backupId, install, path }: Pick<LinkedFile, 'backupId' | 'install' | 'path'>,
      { offset, length }: { offset: number; length: number },
    ) {
      return (await whenFetched(() => readPart(install, backupId, path, offset, length))).bytes;
    },

    /** Whether a download in progress may continue: while the backup exists. */
    mayContinue: async (backupId: string): Promise<boolean> =>
      (await findBackupDetails(reader, backupId)) !== undefined,
  };
}

const isRefusal = (answer: unknown): answer is BackupRefusal =>
  typeof answer === 'object' && answer !== null && 'refused' in answer;

const invalidPath = () =>
  invalidValue(
    'Backup',
    'path',
    'invalid',
    'path must be that of a file or folder in the backup, such as wp-content/uploads',
  );

/** Waits until the host has fetched a file. Rejects with a {@link PermanentHostError}. */
async function whenFetched(read: () => Promise<BackupFilePart | BackupRefusal>): Promise<BackupFilePart> {
  for (let asked = 1; ; asked += 1) {
    const answer = await read();
    if (!('refused' in answer)) return answer;
    if (answer.refused !== 'reading' || asked >= MOST_QUESTIONS) throw new PermanentHostError(answer.reason);
  }
}
