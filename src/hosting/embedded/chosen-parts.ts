import { existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { InstallRef } from '../contract/install-ref.ts';
import type { ReportProgress } from '../contract/progress.ts';
import type { RestoredParts, Snapshot } from '../contract/snapshots.ts';
import { OWN_PREFIX } from '../runtime/wasm/abandoned-entries.ts';
import { type BackupContents, createBackupContents } from '../websites/backup-contents/backup-browser.ts';
import type { Contents } from '../websites/backup-contents/contents-file.ts';
import { createExtractedFiles } from '../websites/backup-contents/extracted-files.ts';
import {
  choiceOf,
  chosenEntries,
  placeChosen,
  requirePlaceable,
} from '../websites/backup-contents/place-chosen.ts';
import type { Layout } from './host-folder/layout.ts';
import { requirePlainFolder } from './host-folder/plain-folder.ts';
import { removeTree } from './snapshots/archive-exchange.ts';
import type { Snapshots } from './snapshots/snapshots.ts';
import { ADDRESSES_FILE } from './wordpress/noted-addresses.ts';
import { keepPresent } from './wordpress/restored-parts.ts';
import { COPY_FOLDER, PRIVATE } from './wordpress/site.ts';

/** The copy of the database in a snapshot. Users see it as tables. */
export const DATABASE_COPY = `${PRIVATE}/${COPY_FOLDER}`;
/** The addresses that URLs of that database name. */
const ADDRESSES = `${PRIVATE}/${ADDRESSES_FILE}`;
/** Folder in a website that is being restored, for the replaced files. They are not needed afterwards. */
const ASIDE = '.homeport-replaced-5f0c';

const isInside = (folder: string, path: string) => path === folder || path.startsWith(`${folder}/`);

export interface ChosenRestore {
  from?: InstallRef | undefined;
  parts: RestoredParts & { paths: readonly string[] };
  signal?: AbortSignal | undefined;
  report?: ReportProgress | undefined;
  /** Completes the restored folder `next`, as for a restore of everything. */
  complete(next: string, present: string, restored: Snapshot): Promise<void>;
}

/** Browses the snapshots of this host, and restores chosen files of them. */
export interface ChosenParts extends Pick<BackupContents, 'browseBackup' | 'readBackupFile'> {
  restore(install: InstallRef, backupId: string, options: ChosenRestore): Promise<Snapshot>;
  forget: BackupContents['forget'];
  removeAll: BackupContents['removeAll'];
  /** Deletes files that were being downloaded. */
  stop(): Promise<void>;
}

export function createChosenParts({
  layout,
  snapshots,
  log,
}: {
  layout: Layout;
  snapshots: Pick<Snapshots, 'index' | 'extract' | 'restoreChosen'>;
  log: Logger;
}): ChosenParts {
  const files = createExtractedFiles({ folder: join(layout.scratch, `${OWN_PREFIX}backup-files`) });
  const contents = createBackupContents({
    folder: layout.snapshotIndexes,
    files,
    log,
    archives: {
      index: (install, backupId, writer, signal) =>
        snapshots.index(install, backupId, writer, {
          isHidden: (path) => isInside(DATABASE_COPY, path),
          signal,
        }),
      extract: (install, backupId, { entry }, write) => snapshots.extract(install, backupId, entry, write),
    },
  });

  function restoreFrom(
    install: InstallRef,
    backupId: string,
    { from = install, parts, complete, ...progress }: ChosenRestore,
    index: Contents,
  ): Promise<Snapshot> {
    const { paths, database } = parts;
    const choice = choiceOf(paths);
    const items = itemsOf(index, paths);
    const summary = index.summary();
    const isNear = (path: string) => paths.some((chosen) => isInside(chosen, path) || isInside(path, chosen));
    return snapshots.restoreChosen(install, backupId, {
      ...{ from, ...progress },
      // The database can be anywhere in the archive.
      items: database === 'none' ? items : Number.POSITIVE_INFINITY,
      summary,
      isChosen: (path) => {
        if (path === ADDRESSES || isInside(DATABASE_COPY, path)) return database !== 'none';
        return isNear(path) || (path === PRIVATE && database !== 'none');
      },
      fill: keepPresent,
      async complete(next, present, staged) {
        const live = next;
        await requirePlaceable({ staged, live }, choice, '');
        const aside = join(next, ASIDE);
        await placeChosen({ staged, live, aside }, choice);
        await rm(aside, { recursive: true, force: true });
        if (database !== 'none') {
          // A link there would lead to what belongs to another website.
          if (existsSync(join(staged, PRIVATE))) await requirePlainFolder(join(staged, PRIVATE));
          for (const part of [DATABASE_COPY, ADDRESSES]) {
            await removeTree(join(next, part));
            if (existsSync(join(staged, part))) await rename(join(staged, part), join(next, part));
          }
        }
        await complete(next, present, summary);
      },
    });
  }

  return {
    browseBackup: contents.browseBackup,
    readBackupFile: contents.readBackupFile,
    restore: (install, backupId, options) =>
      contents.withContents(
        options.from ?? install,
        backupId,
        (index) => restoreFrom(install, backupId, options, index),
        options.signal,
      ),
    forget: contents.forget,
    removeAll: contents.removeAll,
    stop: () => files.clear(),
  };
}

/** How many items of the archive must be read. Throws a {@link RefusedRestoreError} for a path that it lacks. */
function itemsOf(index: Contents, paths: readonly string[]): number {
  const ends = chosenEntries(index, paths).map((entry) => {
    const { place, length } = index.spanOf(entry);
    return place + length;
  });
  return Math.max(0, ...ends);
}
