import type { Serially } from '../../../lib/concurrency.ts';
import type { Randomness } from '../../../lib/ids.ts';
import type { ListedBackups } from '../../contract/backup-places.ts';
import { PermanentHostError } from '../../contract/errors.ts';
import type { BackupPlaces } from './backup-places.ts';
import { PLACE_MARK } from './place-mark.ts';
import { canonicalId, explainRepository, type Repositories } from './repositories.ts';
import { placeIn, type RepositoryPlace } from './repository-place.ts';
import type { Restic } from './restic.ts';

/** Ids of the backups in a repository. */
export async function backupsIn(restic: Restic, signal?: AbortSignal): Promise<string[]> {
  return [...new Set((await restic.list(signal)).flatMap(({ tags = [] }) => tags))];
}

/** See `BackupMover.forgetFormerBackups`. */
export async function forgetFormer(
  listed: readonly ListedBackups[],
  {
    places,
    repositories,
    onRepository,
    random,
    signal,
  }: {
    places: BackupPlaces;
    repositories: Repositories;
    onRepository: Serially;
    random: Randomness;
    signal: AbortSignal | undefined;
  },
): Promise<number> {
  const { waiting, unseen = [] } = await places.report();
  if (waiting.length > 0) {
    throw new PermanentHostError(
      'The move is not finished: run "homeport host backups move" again first. Nothing was deleted.',
    );
  }
  const [hidden] = unseen;
  if (hidden !== undefined) {
    throw new PermanentHostError(
      `${hidden.address} cannot be seen: ${hidden.reason}. Connect it first. If it is gone for good, create a folder with an empty file "${PLACE_MARK}" there. Nothing was deleted.`,
    );
  }
  const roots = await places.former();
  const left: RepositoryPlace[] = [];
  for (const { install, backupIds } of listed) {
    signal?.throwIfAborted();
    const former = roots.map((root) => placeIn(root, canonicalId(install.id)));
    const found = await present(former);
    if (found.length === 0) continue;
    const restic = await repositories.open(install.id);
    const held = new Set(
      restic === null
        ? []
        : await backupsIn(restic, signal).catch((error: unknown) => {
            throw explainRepository(error, install);
          }),
    );
    const missing = backupIds.filter((id) => !held.has(id));
    if (missing.length > 0) {
      throw new PermanentHostError(
        `The present place lacks ${missing.length === 1 ? '1 backup' : `${missing.length} backups`} of ${install.name}. ` +
          'Bring them along with "homeport host backups move --from <former place>". Nothing was deleted.',
      );
    }
    const inUse = await places.placeOf(canonicalId(install.id));
    for (const place of found) if (!(await isSame(place, inUse, random))) left.push(place);
  }
  for (const { address, storage } of left) {
    signal?.throwIfAborted();
    await onRepository(address, () => storage.removeAll());
  }
  for (const { address } of roots) await places.forgetFormer(address);
  return left.length;
}

/** Whether both addresses lead to one repository, such as by a link, a mount or another name of a server: what one gets, the other has. */
async function isSame(
  { storage }: RepositoryPlace,
  inUse: RepositoryPlace,
  random: Randomness,
): Promise<boolean> {
  const mark = `mark-${random.uuid()}`;
  try {
    await storage.write(mark, Buffer.from(''));
    return await inUse.storage.has(mark);
  } finally {
    await storage.remove(mark);
  }
}

async function present(places: RepositoryPlace[]): Promise<RepositoryPlace[]> {
  const found: RepositoryPlace[] = [];
  for (const place of places) if ((await place.storage.list('')).length > 0) found.push(place);
  return found;
}
