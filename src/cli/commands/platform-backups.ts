import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { Logger } from 'pino';
import { websiteParts } from '../../app/embedded-websites.ts';
import { openPlatform } from '../../app/open-platform.ts';
import type { Config } from '../../config/config.ts';
import { applyEveryInstall } from '../../features/websites/installs/apply-again.ts';
import { systemClock } from '../../lib/clock.ts';
import { messageOf } from '../../lib/error-message.ts';
import { OperatorError } from '../../lib/operator-error.ts';
import { PROGRAM_VERSION } from '../../lib/program-version.ts';
import { createPlatformBackup } from '../../platform-backup/create.ts';
import { openStorage, splitLocation, storageOptions } from '../../platform-backup/destination.ts';
import type { Manifest } from '../../platform-backup/manifest.ts';
import { prunePlatformBackups } from '../../platform-backup/prune.ts';
import { restorePlatformBackup } from '../../platform-backup/restore.ts';
import { BACKUP_NAME, type BackupStorage } from '../../platform-backup/storage.ts';
import { readManifest, verifyPlatformBackup } from '../../platform-backup/verify.ts';
import { loadSealingKey, sealingKeyFingerprint } from '../../secrets/sealing-key.ts';
import { configOf } from '../platform/configuration.ts';
import { createQuietLog } from '../platform/quiet-log.ts';
import { lockWebsites } from '../platform/websites-lock.ts';
import { withPlatform } from '../platform/with-platform.ts';
import { createLineProgress } from '../terminal/line-progress.ts';
import { shownBytes } from '../terminal/output.ts';

/** Destination of a command: its argument, or the configured one. */
export function destinationOf(config: Config, given: string | undefined): string {
  const destination = given ?? config.platformBackup;
  if (destination !== null) return destination;
  throw new OperatorError('Name a folder or a bucket for the backups, or set HOMEPORT_PLATFORM_BACKUP.');
}

export async function withStorage<Result>(
  config: Config,
  destination: string,
  work: (storage: BackupStorage) => Promise<Result>,
): Promise<Result> {
  const storage = openStorage(destination, storageOptions(config, await createQuietLog(config)));
  try {
    return await work(storage);
  } finally {
    storage.close();
  }
}

/** The storage and the name of one backup: a bare name is one in the configured destination. */
function locate(config: Config, location: string): { destination: string; name: string } {
  if (BACKUP_NAME.test(location)) return { destination: destinationOf(config, undefined), name: location };
  const { destination, name } = splitLocation(location);
  if (BACKUP_NAME.test(name)) return { destination, name };
  throw new OperatorError(
    `"${location}" is not a backup: the name of one is like homeport-20261122T023000481Z-1e6a4c0e.`,
  );
}

export async function createBackup(
  command: Command,
  given: string | undefined,
  { withSealingKey, isFull }: { withSealingKey: boolean; isFull: boolean },
): Promise<Manifest> {
  const config = configOf(command);
  const destination = destinationOf(config, given);
  let made: Manifest | undefined;
  await withPlatform(command, async (platform) => {
    const progress = createLineProgress('Backing up', process.stderr, platform.clock);
    made = await withStorage(config, destination, (storage) =>
      createPlatformBackup(platform, {
        storage,
        websites: websiteParts(config, platform.clock),
        version: PROGRAM_VERSION,
        withSealingKey,
        isFull,
        onProgress: ({ websites, of, bytes }) =>
          progress.report(`${websites} of ${of} websites, ${shownBytes(bytes)}`),
      }),
    ).finally(() => progress.end());
  });
  if (made === undefined) throw new Error('no backup was made');
  return made;
}

interface ListedBackup {
  name: string;
  /** Null, with the rest, if the manifest is damaged. */
  created_at: string | null;
  homeport_version: string | null;
  bytes: number | null;
  sealing_key: boolean | null;
  websites: number | null;
}

export async function listBackups(command: Command, given: string | undefined): Promise<ListedBackup[]> {
  const config = configOf(command);
  return withStorage(config, destinationOf(config, given), async (storage) => {
    const all: ListedBackup[] = [];
    for (const name of await storage.list()) {
      const manifest = await readManifest(storage, name).catch((error: unknown) => {
        if (error instanceof OperatorError) return null;
        throw error;
      });
      all.push({
        name,
        created_at: manifest?.created_at ?? null,
        homeport_version: manifest?.homeport_version ?? null,
        bytes: manifest?.bytes ?? null,
        sealing_key: manifest?.sealing_key ?? null,
        websites: manifest?.websites.length ?? null,
      });
    }
    return all;
  });
}

export async function verifyBackup(command: Command, location: string): Promise<Manifest> {
  const config = configOf(command);
  const { destination, name } = locate(config, location);
  const progress = createLineProgress('Verifying', process.stderr, systemClock);
  return withStorage(config, destination, (storage) =>
    verifyPlatformBackup(storage, name, {
      onProgress: (files, of) => progress.report(`${files} of ${of} files`),
    }),
  ).finally(() => progress.end());
}

export async function pruneBackups(
  command: Command,
  given: string | undefined,
  keep: number | undefined,
): Promise<string[]> {
  const config = configOf(command);
  const log = await createQuietLog(config);
  return withStorage(config, destinationOf(config, given), (storage) =>
    prunePlatformBackups(storage, {
      platform: sealingKeyFingerprint(loadSealingKey(config)),
      keep: keep ?? config.platformBackupKeep,
      now: systemClock.now(),
      log,
    }),
  );
}

export async function restoreBackup(
  command: Command,
  location: string,
  options: { sealingKey: string | null; withoutSealingKey: boolean },
): Promise<{ manifest: Manifest; next: string[] }> {
  const config = configOf(command);
  const { destination, name } = locate(config, location);
  const log = await createQuietLog(config);
  // Keeps a server from serving a folder that is half restored.
  const lock = lockWebsites(config);
  const progress = createLineProgress('Restoring', process.stderr, systemClock);
  try {
    const manifest = await withStorage(config, destination, (storage) =>
      restorePlatformBackup(config, {
        storage,
        name,
        websites: websiteParts(config, systemClock),
        version: PROGRAM_VERSION,
        sealingKey: options.sealingKey === null ? null : resolve(options.sealingKey),
        withoutSealingKey: options.withoutSealingKey,
        log,
        onProgress: (files, of) => progress.report(`${files} of ${of} files`),
      }),
    ).finally(() => progress.end());
    await queueEveryInstall(config, manifest, log);
    return { manifest, next: nextSteps(config, manifest) };
  } finally {
    lock.release();
  }
}

/** Queues `apply_install` for every active install of a restored database. A server that starts finds the differences, too. */
async function queueEveryInstall(config: Config, { name }: Manifest, log: Logger): Promise<void> {
  try {
    const platform = await openPlatform(config, { log });
    try {
      await applyEveryInstall(platform);
    } finally {
      await platform.database.close();
    }
  } catch (error) {
    throw new OperatorError(
      `${name} is restored completely, but its database takes no writes yet: ${messageOf(error)} ` +
        'Once that is fixed, start the server. It compares every website with the database.',
      { cause: error },
    );
  }
}

function nextSteps(config: Config, { websites }: Manifest): string[] {
  const missing = websites.filter((website) => website.missing !== null).map((website) => website.name);
  return [
    'See that no other server of this platform runs, here or elsewhere.',
    'Start the server: "homeport serve". It brings every website to what the database says.',
    'Look at "homeport doctor".',
    ...(config.host === 'linux'
      ? ['The websites are on the Linux hosts: "homeport doctor --host" compares them with the database.']
      : []),
    ...(missing.length > 0
      ? [
          `These had no files in the backup: ${missing.join(', ')}. Restore a backup of each ("homeport backup list"), or an earlier copy ("homeport platform restore --install NAME").`,
        ]
      : []),
  ];
}
