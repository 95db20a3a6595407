import { randomUUID } from 'node:crypto';
import { lstat, mkdir, realpath, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { type Clock, timestamp } from '../../lib/clock.ts';
import { syncFolder } from '../../lib/durable-file.ts';
import { hasCode } from '../../lib/error-code.ts';
import { ifThere } from '../../lib/if-there.ts';
import { PermanentHostError } from '../contract/errors.ts';
import type { InstallRef } from '../contract/install-ref.ts';
import { OWN_PREFIX } from '../runtime/wasm/abandoned-entries.ts';
import { layoutOf, websiteIn } from './host-folder/layout.ts';
import { requirePlainFolder } from './host-folder/plain-folder.ts';
import { createVhostStore } from './host-folder/vhost-store.ts';
import { adoptCopy, unpackCopy } from './platform-copy.ts';
import type { ArchiveFiles } from './snapshots/archive-files.ts';
import { backupFilesOf } from './snapshots/backup-files.ts';
import { captureBackups } from './snapshots/captured-backups.ts';
import { type OfferedBackups, returnBackups } from './snapshots/returned-backups.ts';
import { listBytesOf } from './snapshots/store/pack-file.ts';
import { storeWebsite, type WebsiteStore } from './snapshots/store-website.ts';
import { copyLiveDatabase } from './wordpress/database-copy.ts';
import {
  DATABASE,
  DATABASE_FOLDER,
  NOT_IN_PLATFORM_BACKUPS,
  PLATFORM_COPY_FOLDER,
  PRIVATE,
} from './wordpress/site.ts';

/** A pack that a website needs. */
interface StoredPack {
  name: string;
  /** Bytes at its end with the list of its chunks. */
  list_bytes: number;
  /** Bytes of the chunks that the website needs. */
  used_bytes: number;
}

interface NamedFile {
  name: string;
  file: string;
}

type UseFiles = (files: NamedFile[], damagedBackups: number) => Promise<void>;

/** PHP and SFTP can cause these by replacing or closing the database, its copy or a folder above them. */
const REPLACED = ['ENOENT', 'ENOTDIR', 'EISDIR', 'EEXIST', 'ENOTEMPTY', 'ELOOP', 'EACCES', 'ENOTCONTAINED'];

/** Fails with an error without a code if the website is at fault: then a platform backup goes on without it. */
async function blamingWebsite<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (cause) {
    if (!hasCode(cause, ...REPLACED)) throw cause;
    throw new Error('the database of the website is not a plain file in its folder', { cause });
  }
}

/** Differs for each file that has been at a path; null without one. */
async function stateAt(path: string): Promise<string | null> {
  const stats = await blamingWebsite(() => ifThere(lstat(path, { bigint: true })));
  return stats === null ? null : `${stats.ino}-${stats.ctimeNs}`;
}

/** The parts of an embedded host's folder `root` that a platform backup contains. */
export function platformParts(root: string, clock: Clock) {
  const layout = layoutOf(root);

  async function present(files: NamedFile[]): Promise<NamedFile[]> {
    const found = await Promise.all(
      files.map(async (one) => (await ifThere(lstat(one.file)))?.isFile() === true),
    );
    return files.filter((_one, index) => found[index]);
  }

  /** The database of a website; null without one. A server of an earlier version has it in the private folder. */
  async function databaseOf(installId: string, privateFolder: string): Promise<string | null> {
    const beside = websiteIn(await realpath(layout.installOf(installId))).database;
    for (const folder of [beside, join(privateFolder, DATABASE_FOLDER)]) {
      const file = join(folder, DATABASE);
      if ((await blamingWebsite(() => ifThere(lstat(file)))) !== null) return file;
    }
    return null;
  }

  const hostFiles = [
    layout.folderId,
    layout.platform,
    layout.phpChoice,
    layout.sshHostKey,
    layout.edgeCertificate,
  ].map((file) => ({ name: basename(file), file }));

  return {
    hostFileNames: hostFiles.map(({ name }) => name),
    hostFiles: () => present(hostFiles),

    async withFilesOf(installId: string, work: UseFiles, signal?: AbortSignal): Promise<void> {
      const vhost = layout.vhostOf(installId);
      const captured = join(layout.scratch, `${OWN_PREFIX}captured-${randomUUID()}`);
      try {
        const { paths, damaged } = await captureBackups(layout.snapshots, installId, captured, signal);
        const files = [
          { name: `vhosts/${basename(vhost)}`, file: vhost },
          ...paths.map((path) => ({ name: `snapshots/${path}`, file: join(captured, path) })),
        ];
        await work(await present(files), damaged);
      } finally {
        await rm(captured, { recursive: true, force: true });
      }
    },

    async store(
      install: InstallRef,
      backupId: string,
      to: WebsiteStore,
      signal?: AbortSignal,
    ): Promise<StoredPack[]> {
      const files = layout.filesOf(install.id);
      if ((await ifThere(lstat(files))) === null)
        throw new PermanentHostError(`The install ${install.name} has no files on this host.`);
      const header = {
        format: 'homeport-snapshot' as const,
        install_id: install.id,
        install_name: install.name,
        backup_id: backupId,
        created_at: timestamp(clock),
      };
      const folder = join(await realpath(files), PRIVATE);
      const copy = join(folder, PLATFORM_COPY_FOLDER);
      const database = await databaseOf(install.id, folder);
      const hasDatabase = database !== null;
      // A vhost file that cannot be used is no fault of the files. It says nothing about them.
      const served = await createVhostStore(layout)
        .read(install.id)
        .catch(() => null);
      if (served?.file.wordpress !== undefined && !hasDatabase) throw new Error('its database is missing');
      if (hasDatabase) await blamingWebsite(() => requirePlainFolder(folder));
      try {
        if (database !== null) {
          await blamingWebsite(async () => {
            await rm(copy, { recursive: true, force: true });
            await mkdir(copy, { mode: 0o700 });
            await copyLiveDatabase(database, join(copy, DATABASE), { signal });
          });
        }
        const before = hasDatabase ? await stateAt(join(copy, DATABASE)) : null;
        const packs = await storeWebsite(files, to, header, clock, {
          signal,
          leftOut: NOT_IN_PLATFORM_BACKUPS,
        });
        // Files that vanish are left out, but a website without its database is no backup.
        if (hasDatabase && (before === null || (await stateAt(join(copy, DATABASE))) !== before)) {
          throw new Error(
            'the copy of its database was removed, as by another platform backup at the same time',
          );
        }
        return packs.map(({ name, chunks, usedBytes }) => ({
          name,
          list_bytes: listBytesOf(chunks),
          used_bytes: usedBytes,
        }));
      } finally {
        if (hasDatabase) await blamingWebsite(() => rm(copy, { recursive: true, force: true }));
      }
    },

    async extract(
      installId: string,
      backupId: string,
      from: ArchiveFiles | WebsiteStore,
      to: string,
      signal?: AbortSignal,
    ): Promise<void> {
      const files = layoutOf(to).filesOf(installId);
      const database = layoutOf(to).databaseOf(installId);
      await unpackCopy(from, { installId, backupId }, { files, database }, signal);
      await syncFolder(dirname(files));
    },

    adopt: (
      install: InstallRef,
      backupId: string,
      copy: Parameters<typeof adoptCopy>[4],
      signal: AbortSignal,
    ) => adoptCopy(layout, clock, install, backupId, copy, signal),

    async disown(installId: string, backupId: string): Promise<void> {
      await backupFilesOf(layout.snapshots, installId).remove(backupId);
    },

    async returnBackups(
      installId: string,
      backupIds: readonly string[],
      offered: OfferedBackups,
    ): Promise<string[]> {
      const scratch = join(layout.scratch, `${OWN_PREFIX}returned-${randomUUID()}`);
      try {
        await mkdir(scratch, { recursive: true, mode: 0o700 });
        return await returnBackups(layout.snapshots, installId, backupIds, offered, scratch);
      } finally {
        await rm(scratch, { recursive: true, force: true });
      }
    },
  };
}
