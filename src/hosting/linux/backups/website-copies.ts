import type { serializeByKey } from '../../../lib/concurrency.ts';
import type { ReportProgress } from '../../contract/progress.ts';
import { ALL_PARTS, type Snapshot } from '../../contract/snapshots.ts';
import type { HostedInstall } from '../isolation/hosted-install.ts';
import type { createBackupMaker } from './make-backup.ts';
import type { NotedListings } from './noted-listings.ts';
import { canonicalId } from './repositories.ts';
import type { createRestorer } from './restore.ts';

/** The two copies of a website that moves: all of it, and then what changed since. */
export interface WebsiteCopies {
  snapshotBase(
    install: HostedInstall,
    backupId: string,
    signal?: AbortSignal,
    report?: ReportProgress,
  ): Promise<Snapshot>;
  snapshotChanges(
    install: HostedInstall,
    backupId: string,
    base: string,
    signal?: AbortSignal,
    report?: ReportProgress,
  ): Promise<Snapshot>;
  stage(
    install: HostedInstall,
    backupId: string,
    signal?: AbortSignal,
    report?: ReportProgress,
  ): Promise<void>;
  restoreChanges(
    install: HostedInstall,
    backupId: string,
    base: string,
    signal?: AbortSignal,
    report?: ReportProgress,
  ): Promise<Snapshot>;
}

/** `onFiles` and `onRepository` lock the files of an install and its repository. */
export function createWebsiteCopies({
  noted,
  make,
  restore,
  stage,
  recover,
  onFiles,
  onRepository,
}: {
  noted: NotedListings;
  make: ReturnType<typeof createBackupMaker>;
  recover(installId: string): Promise<void>;
  onFiles: ReturnType<typeof serializeByKey>;
  onRepository: ReturnType<typeof serializeByKey>;
} & ReturnType<typeof createRestorer>): WebsiteCopies {
  /** Work that other work on the website may have left half done before. */
  const onWhole = <Result>({ ref }: HostedInstall, work: () => Promise<Result>) =>
    onFiles(ref.id, async () => {
      await recover(ref.id);
      return work();
    });

  return {
    snapshotBase: (install, backupId, signal, report) =>
      onWhole(install, async () => {
        const id = canonicalId(backupId);
        await noted.note(install, id, signal);
        return onRepository(install.ref.id, () =>
          make(install, id, signal, report, { changes: async () => null, isPoint: false }),
        );
      }),
    snapshotChanges: (install, backupId, base, signal, report) =>
      onWhole(install, async () => {
        const changes = await noted.since(install, canonicalId(base), signal);
        if (changes === null)
          throw new Error('this host no longer knows what the first copy of the website had');
        return onRepository(install.ref.id, () =>
          make(install, canonicalId(backupId), signal, report, {
            changes: async () => changes,
            isPoint: false,
          }),
        );
      }),
    stage: (install, backupId, signal, report) =>
      onFiles(install.ref.id, () =>
        onRepository(install.ref.id, () => stage(install, canonicalId(backupId), signal, report)),
      ),
    // Without recovery, which would remove what is staged.
    restoreChanges: (install, backupId, base, signal, report) =>
      onFiles(install.ref.id, () =>
        onRepository(install.ref.id, () =>
          restore(install, canonicalId(backupId), {
            ...{ from: install.ref, parts: ALL_PARTS, base: canonicalId(base), signal, report },
          }),
        ),
      ),
  };
}
