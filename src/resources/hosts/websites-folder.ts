import { type Clock, timestamp } from '../../clock.ts';
import type { Database } from '../../database/database.ts';
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
 * files it does not have. One that was moved keeps its id. Throws OperatorError.
 */
export async function claimWebsites(
  { database, clock }: { database: Database; clock: Clock },
  here: FolderHere,
): Promise<void> {
  const claim = { ...here, claimed_at: timestamp(clock) };
  const served = await database.write(async ({ queries }) => {
    await insertWebsitesFolder(queries, claim);
    const found = await findWebsitesFolder(queries);
    if (found?.id === here.id && (found.machine !== here.machine || found.path !== here.path)) {
      await updateWebsitesFolder(queries, claim);
    }
    return found;
  });
  if (served === undefined || served.id === here.id) return;
  throw new OperatorError(
    `The websites of this database are in another data folder: ${served.path} on ${served.machine}. ` +
      `Start this one with "--only api"; or bring that folder here, if ${served.machine} is to host no more; ` +
      'or, if it is lost, let this one take its place: "homeport host take-over".',
  );
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
