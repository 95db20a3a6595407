import { lstat, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Clock } from '../../lib/clock.ts';
import { ifThere } from '../../lib/if-there.ts';
import { PermanentHostError } from '../contract/errors.ts';
import { NO_LIMITS } from '../contract/install-limits.ts';
import type { InstallRef } from '../contract/install-ref.ts';
import type { Snapshot } from '../contract/snapshots.ts';
import { OWN_PREFIX } from '../runtime/wasm/abandoned-entries.ts';
import type { Layout } from './host-folder/layout.ts';
import { removeTree } from './snapshots/archive-exchange.ts';
import { extractArchive } from './snapshots/archive-extract.ts';
import type { ArchiveFiles } from './snapshots/archive-files.ts';
import { DamagedArchiveError } from './snapshots/damaged-archive.ts';
import { createSnapshots } from './snapshots/snapshots.ts';
import type { WebsiteStore } from './snapshots/store-website.ts';
import { storedBackup } from './snapshots/stored-backup.ts';
import { COPY_FOLDER, NOT_IN_SNAPSHOTS, PLATFORM_COPY_FOLDER, PRIVATE } from './wordpress/site.ts';

/** Unpacks the copy of a website in a platform backup into the new folder `files`, and moves its database, if it has one, to `database`. */
export async function unpackCopy(
  from: ArchiveFiles | WebsiteStore,
  identity: { installId: string; backupId: string },
  { files, database }: { files: string; database: string },
  signal?: AbortSignal,
): Promise<{ hasDatabase: boolean }> {
  await mkdir(dirname(files), { recursive: true, mode: 0o700 });
  if ('packs' in from) await storedBackup(from.manifest, from.packs, identity).extract(files, { signal });
  else await extractArchive(from, identity, files, signal);
  const folder = join(files, PRIVATE);
  const copy = join(folder, PLATFORM_COPY_FOLDER);
  // A website of files can have a link in its place, to a folder of another one.
  const isFolder = (await ifThere(lstat(folder)))?.isDirectory() === true;
  if (!isFolder || (await ifThere(lstat(copy))) === null) return { hasDatabase: false };
  await rename(copy, database);
  return { hasDatabase: true };
}

interface AdoptedCopy {
  websiteId: string;
  platformBackupId: string;
  isWordPress: boolean;
  fetch(to: string): Promise<ArchiveFiles | WebsiteStore>;
}

/**
 * Makes a backup of an install from the copy of a website in a platform backup. The copy is unpacked in the scratch folder, and backed up
 * like any website, so contents that the install's backups have are not stored again.
 */
export async function adoptCopy(
  layout: Pick<Layout, 'scratch' | 'snapshots'>,
  clock: Clock,
  install: InstallRef,
  backupId: string,
  { websiteId, platformBackupId, isWordPress, fetch }: AdoptedCopy,
  signal: AbortSignal,
): Promise<Snapshot> {
  const ending = `adopted-${backupId}`;
  for (const left of (await ifThere(readdir(layout.scratch))) ?? []) {
    // Of an attempt that was killed.
    if (left.endsWith(ending)) await removeTree(join(layout.scratch, left));
  }
  const scratch = join(layout.scratch, `${OWN_PREFIX}${ending}`);
  const fetched = join(scratch, 'fetched');
  const files = join(scratch, 'files');
  try {
    await mkdir(fetched, { recursive: true, mode: 0o700 });
    const from = await fetch(fetched);
    const identity = { installId: websiteId, backupId: platformBackupId };
    const database = join(files, PRIVATE, COPY_FOLDER);
    const unpacking = unpackCopy(from, identity, { files, database }, signal);
    const { hasDatabase } = await unpacking.catch(explainDamage);
    requireKind(hasDatabase, isWordPress, install);
    // Makes room for what is stored now.
    await rm(fetched, { recursive: true });
    const snapshots = createSnapshots({
      ...{
        folder: layout.snapshots,
        filesOf: () => files,
        limits: NO_LIMITS,
        clock,
        leftOut: NOT_IN_SNAPSHOTS,
      },
    });
    return await snapshots.snapshot(install, backupId, signal);
  } finally {
    await removeTree(scratch);
  }
}

/** A copy that is damaged, or that a newer version has made, is the same at the next attempt. */
function explainDamage(cause: unknown): never {
  if (!(cause instanceof DamagedArchiveError)) throw cause;
  throw new PermanentHostError(
    `The copy of the website cannot be read: ${cause.message}. Nothing was replaced.`,
    { cause },
  );
}

function requireKind(hasDatabase: boolean, isWordPress: boolean, { name }: InstallRef): void {
  if (hasDatabase === isWordPress) return;
  throw new PermanentHostError(
    isWordPress
      ? `The copy has no database of a WordPress, and ${name} runs WordPress. Nothing was replaced.`
      : `The copy is of a WordPress, and ${name} is a static website. Nothing was replaced.`,
  );
}
