import type { HostMachine } from '../../hosting/contract/host.ts';
import type { RestoreOptions } from '../../hosting/contract/snapshots.ts';

/**
 * The options of a restore without what the host does not know: those of earlier versions refuse the id of a restore, and repeat a repeated one.
 */
export async function knownRestoreOptions(
  machine: Pick<HostMachine, 'describe'>,
  { restoreId, ...earlier }: RestoreOptions,
): Promise<RestoreOptions> {
  if (restoreId === undefined) return earlier;
  const { recordsRestores = false } = await machine.describe();
  return recordsRestores ? { restoreId, ...earlier } : earlier;
}
