import type { Clock } from '../../../lib/clock.ts';
import { parseUuid, type Randomness } from '../../../lib/ids.ts';
import { PermanentHostError } from '../../contract/errors.ts';
import type { InstallRef } from '../../contract/install-ref.ts';
import { newRepository } from './new-repository.ts';
import type { RepositoryPlace } from './repository-place.ts';
import { isWrongPassword, type Restic, resticOn } from './restic.ts';

/** The repositories of all installs. */
export interface Repositories {
  /** The repository of an install; null without one. */
  open(installId: string): Promise<Restic | null>;
  /** The repository of an install, created if needed, and the snapshots of a backup in it. */
  openWith(
    installId: string,
    backupId: string,
    signal: AbortSignal | undefined,
  ): Promise<{ restic: Restic; ids: string[] }>;
  /** Deletes a repository with all its backups. Succeeds if it is missing. */
  remove(installId: string): Promise<void>;
}

export function createRepositories(options: {
  placeOf(installId: string): RepositoryPlace;
  passwordOf(installId: string): Promise<string>;
  clock: Clock;
  random: Randomness;
}): Repositories {
  const { passwordOf, clock, random } = options;
  const placeOf = (installId: string) => options.placeOf(canonicalId(installId));

  async function open(installId: string): Promise<Restic | null> {
    const place = placeOf(installId);
    return (await place.storage.has('config')) ? resticOn(place, await passwordOf(installId)) : null;
  }

  return {
    open,

    async openWith(installId, backupId, signal) {
      const present = await open(installId);
      if (present !== null) return { restic: present, ids: await present.find(backupId, signal) };
      const place = placeOf(installId);
      const password = await passwordOf(installId);
      // A key without a configuration belongs to an unknown master key; a second key could not open the data.
      await place.storage.removeAll();
      const { key, config } = await newRepository(password, { random, now: clock.now() });
      await place.storage.write(key.name, key.content);
      await place.storage.write(config.name, config.content);
      return { restic: resticOn(place, password), ids: [] };
    },

    remove: (installId) => placeOf(installId).storage.removeAll(),
  };
}

/** Identifiers become names of folders and tags, so only UUIDs are allowed. */
export function canonicalId(id: string): string {
  if (parseUuid(id) !== id) throw new PermanentHostError(`${JSON.stringify(id)} is not a lower-case UUID.`);
  return id;
}

/** A retry cannot open a repository that has another key. */
export function explainRepository(error: unknown, { name }: InstallRef): unknown {
  if (!isWrongPassword(error)) return error;
  return new PermanentHostError(
    `The backups of ${name} were made with another sealing key; put that key back (HOMEPORT_SEALING_KEY_FILE).`,
    { cause: error },
  );
}
