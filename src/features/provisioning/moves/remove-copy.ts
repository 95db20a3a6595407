import { PermanentHostError } from '../../../hosting/contract/errors.ts';
import type { HostMachine } from '../../../hosting/contract/host.ts';
import type { InstallRef } from '../../../hosting/contract/install-ref.ts';
import { type RepositoryMachine, seesMark, whileMarked } from './copy-repository.ts';

/** The machine cannot tell whose backups it has. */
export class EarlierVersionError extends PermanentHostError {
  override name = 'EarlierVersionError';
}

/**
 * Removes a website from a machine that no longer has it, with its backups unless they are those of the machine that has it. `word`: a fresh
 * one. Rejects with an {@link EarlierVersionError}, before anything is removed.
 */
export async function removeCopy(
  install: InstallRef,
  machine: RepositoryMachine & Pick<HostMachine, 'describe' | 'remove'>,
  serving: RepositoryMachine,
  word: string,
): Promise<void> {
  // After a downgrade it would understand no question about the mark, and take a shared repository along.
  if ((await machine.describe()).movesWebsites !== true) {
    throw new EarlierVersionError(
      'The machine with the copy has an earlier version of Homeport, which would remove shared backups. Upgrade it first.',
    );
  }
  await whileMarked(install, serving, word, async () => {
    await machine.remove(install, { keepBackups: await seesMark(install, machine, word) });
  });
}
