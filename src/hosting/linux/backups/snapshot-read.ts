import type { InstallRef } from '../../contract/install-ref.ts';
import type { Snapshot } from '../../contract/snapshots.ts';
import { DamagedBackupError } from './archive-manifest.ts';
import { type ArchiveReader, readArchive } from './archive-read.ts';
import { isWrongPassword, type Restic } from './restic.ts';

/**
 * Reads and verifies a whole snapshot. Rejects with a {@link DamagedBackupError} if it is damaged, or belongs to another
 * website than `from`, or has only the changes since another one than `base`.
 */
export async function readSnapshot(
  restic: Restic,
  snapshotId: string,
  from: InstallRef,
  {
    signal,
    reader = {},
    base,
  }: { signal: AbortSignal | undefined; reader?: ArchiveReader; base?: string | undefined },
): Promise<Snapshot> {
  signal?.throwIfAborted();
  const keeper = restic.read(snapshotId);
  const stop = () => keeper.stop();
  signal?.addEventListener('abort', stop);
  keeper.stdin.end();
  try {
    const seen = await readArchive(keeper.stdout, {
      ...reader,
      description(description) {
        if (description.install_id !== from.id) throw new DamagedBackupError('it belongs to another website');
        if (description.base !== base) {
          throw new DamagedBackupError(
            base === undefined
              ? 'it has only what changed since another backup'
              : 'it has other changes than expected',
          );
        }
        return reader.description?.(description);
      },
    });
    await keeper.ended;
    return seen;
  } catch (error) {
    const failure = await stop();
    signal?.throwIfAborted();
    throw failure === null ? error : damage(failure);
  } finally {
    signal?.removeEventListener('abort', stop);
  }
}

/** If restic cannot return the data, its repository is damaged. */
export function damage(failure: Error): Error {
  if (isWrongPassword(failure)) return failure;
  const reason =
    /(?:ciphertext verification failed|invalid data returned|wrong data returned|not found in index|does not exist|no such file|invalid blob|blob .* not found|hash does not match|decrypting .* failed)/i.exec(
      failure.message,
    );
  if (reason === null) return failure;
  return new DamagedBackupError(`restic cannot read it (${reason[0]})`, { cause: failure });
}
