import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { writeDurably } from '../../../lib/durable-file.ts';
import { messageOf } from '../../../lib/error-message.ts';
import type { UnseenPlace } from '../../contract/backup-places.ts';
import { installsIn, type RepositoryRoot, storageBelow } from './repository-place.ts';

/** A file in a place with backups. Without it the place is not the one that the host has used, such as a folder whose disk is not mounted. */
export const PLACE_MARK = 'homeport-backups';
const TEXT =
  'Homeport keeps backups here. Leave this file: without it, Homeport takes the place for an unmounted disk.\n';

export const hasMark = (root: RepositoryRoot): Promise<boolean> => storageBelow(root, '').has(PLACE_MARK);

/** Marks a place. A mark that is there stays, because several machines may share a place. */
export async function putMark(root: RepositoryRoot): Promise<void> {
  if (await hasMark(root)) return;
  if (root.credentials !== null) return storageBelow(root, '').write(PLACE_MARK, Buffer.from(TEXT));
  await mkdir(root.address, { recursive: true, mode: 0o700 });
  await writeDurably(join(root.address, PLACE_MARK), TEXT);
}

/** Marks a place if it has backups of any install. Returns whether it has. */
export async function markIfUsed(root: RepositoryRoot): Promise<boolean> {
  if ((await installsIn(root)).length === 0) return false;
  await putMark(root);
  return true;
}

/** Why the backups of a marked place cannot be seen; null if they can. */
export async function unseenReason(root: RepositoryRoot): Promise<string | null> {
  try {
    if (await hasMark(root)) return null;
    const kind = root.credentials === null ? 'its disk may not be mounted' : 'it may be another bucket';
    return `the file "${PLACE_MARK}" is missing there, so ${kind}`;
  } catch (error) {
    return messageOf(error);
  }
}

/** For users: it names no folder and no bucket. */
export class UnseenPlaceError extends Error {
  override name = 'UnseenPlaceError';
  constructor({ address, reason }: UnseenPlace) {
    super('The place of the backups is not available. The operator of this platform must connect it again.', {
      cause: new Error(`${address} cannot be seen: ${reason}`),
    });
  }
}
