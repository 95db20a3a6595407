import { mapConcurrent } from '../../../lib/concurrency.ts';
import type { CountedBackups } from '../../contract/backup-places.ts';
import { installsIn, placeIn, type RepositoryRoot } from './repository-place.ts';

const AT_ONCE = 8;

/** Counts the snapshots in a place by the names of their files, without a password. */
export async function countSnapshots(
  root: RepositoryRoot,
  isCounted: (installId: string) => boolean = () => true,
): Promise<CountedBackups> {
  const installs = (await installsIn(root)).filter(isCounted);
  const counts = await mapConcurrent(installs, AT_ONCE, async (id) => {
    return (await placeIn(root, id).storage.list('snapshots')).length;
  });
  return {
    installs: counts.filter((count) => count > 0).length,
    backups: counts.reduce((sum, count) => sum + count, 0),
  };
}
