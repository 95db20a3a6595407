import { type Clock, timestamp } from '../../clock.ts';
import type { Database } from '../../database/database.ts';
import { liveWorkers } from '../../jobs/live-workers.ts';
import { OperatorError } from '../../operator-error.ts';
import {
  findWebsitesFolder,
  insertWebsitesFolder,
  updateWebsitesFolder,
  type WebsitesFolder,
} from './websites-folder-store.ts';

/** A folder that an embedded host keeps its websites in: its own id, and where it is now. */
export type FolderHere = Pick<WebsitesFolder, 'id' | 'machine' | 'path'>;

/**
 * The first folder that websites are served from is written down, and no other is served from afterwards: it would answer for installs whose
 * files it does not have. One that was moved keeps its id; but not while it is served where it was, for then it was copied. Throws OperatorError.
 */
export async function claimWebsites(
  { database, clock }: { database: Database; clock: Clock },
  here: FolderHere,
): Promise<void> {
  const claim = { ...here, claimed_at: timestamp(clock) };
  const served = await database.write(async ({ queries }) => {
    await insertWebsitesFolder(queries, claim);
    return findWebsitesFolder(queries);
  });
  if (served === undefined) throw new Error('the folder of the websites was not written down');
  const { id, machine, path } = served;
  if (id !== here.id) {
    throw new OperatorError(
      `The websites of this database are in another data folder: ${path} on ${machine}. ` +
        `Start this one with "--only api"; or bring that folder here, if ${machine} is to host no more; ` +
        'or, if it is lost, let this one take its place: "homeport host take-over".',
    );
  }
  if (machine === here.machine && path === here.path) return;
  const workers = await liveWorkers(database, clock);
  if (workers.some((worker) => worker.process.startsWith(`${machine}:`))) {
    throw new OperatorError(
      `The websites of this database are served still, from ${path} on ${machine}. ` +
        'End the server there first (one that was killed counts for 10 seconds more), or start this one with "--only api".',
    );
  }
  await database.write(({ queries }) => updateWebsitesFolder(queries, claim));
}

/** From now on this folder is the one. Gives the one that was, if that is another. */
export async function takeOverWebsites(
  { database, clock }: { database: Database; clock: Clock },
  here: FolderHere,
): Promise<WebsitesFolder | null> {
  const claim = { ...here, claimed_at: timestamp(clock) };
  return database.write(async ({ queries }) => {
    const before = await findWebsitesFolder(queries);
    if (before?.id === here.id) return null;
    await insertWebsitesFolder(queries, claim);
    await updateWebsitesFolder(queries, claim);
    return before ?? null;
  });
}
