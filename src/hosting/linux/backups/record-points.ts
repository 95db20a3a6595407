import type { serializeByKey } from '../../../lib/concurrency.ts';
import type { ReportProgress } from '../../contract/progress.ts';
import type { PointOrder, RecordedPoint } from '../../contract/recovery-points.ts';
import type { HostedInstall } from '../isolation/hosted-install.ts';
import type { createBackupMaker } from './make-backup.ts';
import type { NotedListings } from './noted-listings.ts';
import { canonicalId, explainRepository, type Repositories } from './repositories.ts';
import { isPoint, type ListedSnapshot, type Restic } from './restic.ts';
import type { WebsiteMarks } from './website-marks.ts';

/** Makes recovery points, and deletes the former ones. See `RecoveryPointMaker.recordPoint`. */
export function createPointRecorder({
  noted,
  marks,
  make,
  repositories,
  isSettling,
  onRepository,
}: {
  noted: NotedListings;
  marks: Pick<WebsiteMarks, 'take'>;
  make: ReturnType<typeof createBackupMaker>;
  repositories: Pick<Repositories, 'open'>;
  /** Whether nothing is pruned, because the repository is in a new place. */
  isSettling(): Promise<boolean>;
  /** Locks the repository of an install. */
  onRepository: ReturnType<typeof serializeByKey>;
}) {
  async function held({ ref }: HostedInstall): Promise<{ restic: Restic; points: ListedSnapshot[] } | null> {
    const restic = await repositories.open(ref.id);
    return restic && { restic, points: (await restic.list()).filter(isPoint) };
  }

  return async (
    install: HostedInstall,
    { pointId, baseId, keep }: PointOrder,
    signal?: AbortSignal,
    report?: ReportProgress,
  ): Promise<RecordedPoint> => {
    const { ref, unixUser } = install;
    const id = canonicalId(pointId);
    // Before the snapshot: what changes meanwhile is in the next one.
    const mark = await marks.take({ installId: ref.id, unixUser });
    return onRepository(ref.id, async () => {
      const repository = await held(install).catch((error: unknown) => {
        throw explainRepository(error, ref);
      });
      const has = (tag: string) => repository?.points.some(({ tags = [] }) => tags.includes(tag)) ?? false;
      const wanted = baseId === null ? null : canonicalId(baseId);
      // The place of the backups may be another one since, and the host may have been started again.
      const isKnown = wanted !== null && has(wanted) && (await noted.has(ref.id, wanted));
      const base = isKnown ? wanted : null;
      // First, because it makes room. A new base is rare, and so is the long work of pruning.
      if (repository !== null) await thin(install, repository, [...keep.map(canonicalId), id], base === null);
      let used: string | null = null;
      const changes = async (limited: AbortSignal) => {
        const since = base === null ? null : await noted.since(install, base, limited);
        // After a restore, for example, nearly all files are new.
        if (since === null || since.isMost) {
          await noted.note(install, id, limited);
          return null;
        }
        used = base;
        return since;
      };
      try {
        const snapshot = await make(install, id, signal, report, { changes, isPoint: true });
        return { snapshot, mark, baseId: used };
      } catch (error) {
        // Nothing else deletes the listing of a point that is not there.
        await noted.forget(ref.id, id);
        throw error;
      }
    });
  };

  /** Forgets points only: what the control plane lists can be incomplete, and backups are never at stake. */
  async function thin(
    { ref }: HostedInstall,
    { restic, points }: { restic: Restic; points: readonly ListedSnapshot[] },
    keep: readonly string[],
    prune: boolean,
  ): Promise<void> {
    const former = points.filter(({ tags = [] }) => !tags.some((tag) => keep.includes(tag)));
    if (former.length === 0) return;
    try {
      await restic.forget(former.map(({ id }) => id));
      for (const tag of former.flatMap(({ tags = [] }) => tags)) await noted.forget(ref.id, tag);
      if (prune && !(await isSettling())) await restic.prune();
    } catch (error) {
      throw explainRepository(error, ref);
    }
  }
}
