import type { Clock } from '../../../lib/clock.ts';
import { parseUuid, type Randomness } from '../../../lib/ids.ts';
import { PermanentHostError } from '../../contract/errors.ts';
import type { InstallRef } from '../../contract/install-ref.ts';
import type { BackupPlaces } from './backup-places.ts';
import { newRepository } from './new-repository.ts';
import type { RepositoryPlace } from './repository-place.ts';
import { isWrongPassword, type Restic, resticOn } from './restic.ts';

/** The repositories of all installs. */
export interface Repositories {
  /** The repository of an install; null without one. Rejects if the place with it cannot be seen. */
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

export interface RepositoriesOptions {
  places: Pick<BackupPlaces, 'placeOf' | 'rootOf' | 'requireSeen' | 'claim'>;
  passwordOf(installId: string): Promise<string>;
  clock: Clock;
  random: Randomness;
}

export function createRepositories(options: RepositoriesOptions): Repositories {
  const { passwordOf, places } = options;
  const placeOf = (installId: string) => places.placeOf(canonicalId(installId));

  async function open(installId: string): Promise<Restic | null> {
    const place = await placeOf(installId);
    if (await place.storage.has('config')) return resticOn(place, await passwordOf(installId));
    await places.requireSeen(await places.rootOf(installId));
    return null;
  }

  return {
    open,

    async openWith(installId, backupId, signal) {
      const present = await open(installId);
      if (present !== null) return { restic: present, ids: await present.find(backupId, signal) };
      const place = await placeOf(installId);
      const password = await passwordOf(installId);
      await places.claim(await places.rootOf(installId));
      await initialize(place, password, options);
      return { restic: resticOn(place, password), ids: [] };
    },

    async remove(installId) {
      const place = await placeOf(installId);
      await places.requireSeen(await places.rootOf(installId));
      await place.storage.removeAll();
    },
  };
}

/** Makes an empty repository, with the polynomial of another one or a random one. Rejects if there is data without a configuration. */
export async function initialize(
  { storage }: RepositoryPlace,
  password: string,
  { clock, random }: Pick<RepositoriesOptions, 'clock' | 'random'>,
  polynomial?: string,
): Promise<void> {
  // Someone may be copying a repository to this place by other means.
  for (const folder of ['snapshots', 'data']) {
    if ((await storage.list(folder)).length === 0) continue;
    // Users read it, so it does not name the operator's bucket.
    throw new PermanentHostError(
      'The backup repository has data, but no file "config". The operator must complete it, or move it away.',
    );
  }
  // A key without a configuration belongs to an unknown master key; a second key could not open the data.
  await storage.removeAll();
  const { key, config } = await newRepository(password, {
    ...{ random, now: clock.now() },
    ...(polynomial === undefined ? {} : { polynomial }),
  });
  await storage.write(key.name, key.content);
  await storage.write(config.name, config.content);
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
