import { readdir, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ownCertificateFile, ownKeyFile } from '../api/api-certificate.ts';
import type { Config } from '../config/config.ts';
import { copyDatabase } from '../database/copy-database.ts';
import { timestamp } from '../lib/clock.ts';
import { hasCode } from '../lib/error-code.ts';
import { messageOf } from '../lib/error-message.ts';
import { OperatorError } from '../lib/operator-error.ts';
import type { Platform } from '../platform/platform.ts';
import { loadSealingKey, sealingKeyFile, sealingKeyFingerprint } from '../secrets/sealing-key.ts';
import { copyFileTo, measure } from './checked-copy.ts';
import { formerFilesOf, isShared, readableFormer } from './former-backup.ts';
import {
  type BackedUpFile,
  type BackedUpWebsite,
  databaseFile,
  FORMAT_VERSION,
  type Manifest,
  manifestText,
  type PackFacts,
} from './manifest.ts';
import { isNoRoom } from './no-room.ts';
import { oneAtATime } from './one-at-a-time.ts';
import { finishRun, insertRun, isInstall, type RunOutcome, readContents } from './runs-store.ts';
import { type BackupDraft, type BackupStorage, backupName } from './storage.ts';
import { storeUnlessChanging } from './store-website.ts';
import { provideFormerPacks, websiteStoreOf } from './website-packs.ts';
import type { HostFile, WebsiteParts } from './website-parts.ts';

export type BackupProgress = (done: { websites: number; of: number; bytes: number }) => void;

export interface CreateOptions {
  storage: BackupStorage;
  /** The websites, if the data folder holds them. */
  websites: WebsiteParts | null;
  /** The version of this program. */
  version: string;
  withSealingKey: boolean;
  /** Store everything again, without files of earlier backups. */
  isFull?: boolean;
  onProgress?: BackupProgress;
  signal?: AbortSignal | undefined;
}

type Parts = Pick<Platform, 'config' | 'database' | 'clock' | 'random' | 'log'>;

/**
 * Backs up the platform while it runs, and records the outcome in the database.
 *
 * The database is copied first, as of one moment. Then follow the files of the websites in this copy, each as of one
 * moment (archive-source.ts). A website that a job changed during the copy is copied again. Errors: OperatorError; BackupUnderWay while
 * another backup is made.
 */
export function createPlatformBackup(parts: Parts, options: CreateOptions): Promise<Manifest> {
  return oneAtATime(parts.config, parts.log, () => createAlone(parts, options));
}

async function createAlone(parts: Parts, options: CreateOptions): Promise<Manifest> {
  const { database, clock, random, log } = parts;
  const { storage, signal } = options;
  const started = clock.now();
  const name = backupName(started, random.bytes(4));
  const run = { name, destination: storage.address, started_at: started.toISOString() };
  // A full disk is a reason to make a backup, so a database that takes no writes must not prevent it.
  let isRecorded = await recorded(() => database.write(({ queries }) => insertRun(queries, run)));
  const finish = async (outcome: RunOutcome) => {
    isRecorded = await recorded(() =>
      database.write(async ({ queries }) => {
        if (!isRecorded) await insertRun(queries, run);
        await finishRun(queries, name, outcome);
      }),
    );
  };
  let draft: BackupDraft | undefined;
  try {
    draft = await storage.begin(name);
    const manifest = await fill(parts, options, draft, name);
    signal?.throwIfAborted();
    await draft.finish(manifestText(manifest));
    await finish({
      finished_at: timestamp(clock),
      bytes: manifest.bytes,
      missing_websites: manifest.websites.filter(({ missing }) => missing !== null).length,
      error: null,
    });
    return manifest;
  } catch (error) {
    const failure = explained(error, storage);
    await draft
      ?.discard()
      .catch((err: unknown) => log.warn({ err }, `could not delete the unfinished backup ${name}`));
    await finish({
      finished_at: timestamp(clock),
      bytes: null,
      error: messageOf(failure).split('\n', 1)[0] ?? '',
    });
    throw failure;
  }

  /** Returns whether the write succeeded. `doctor` and the metrics do not know an unrecorded backup. */
  async function recorded(write: () => Promise<void>): Promise<boolean> {
    try {
      await write();
      return true;
    } catch (error) {
      log.warn(`could not record the backup ${name} in the database: ${messageOf(error)}`);
      return false;
    }
  }
}

/** A full disk and the like: what the operator can change. */
function explained(error: unknown, { address }: BackupStorage): unknown {
  if (isNoRoom(error)) {
    return new OperatorError(
      `There is no room for the backup in ${address}, or in the data folder. Make room, and try again.`,
      { cause: error },
    );
  }
  if (hasCode(error, 'EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'EEXIST')) {
    return new OperatorError(
      `The backup cannot be written to ${address}: ${messageOf(error)}. Name a folder that this user can write. ` +
        'If homeport.service makes it, "homeport host setup" lets the service write there.',
      { cause: error },
    );
  }
  return error;
}

/** Writes everything but the manifest, and returns that. */
async function fill(
  parts: Parts,
  options: CreateOptions,
  draft: BackupDraft,
  name: string,
): Promise<Manifest> {
  const { config, clock, random, log } = parts;
  const { storage, websites, signal } = options;
  const id = random.uuid();
  const created_at = timestamp(clock);
  const platform = sealingKeyFingerprint(loadSealingKey(config));
  const files: BackedUpFile[] = [];
  let stored_bytes = 0;
  let former = formerFilesOf(null, storage, log);

  async function keep(path: string, file: string, pack?: PackFacts): Promise<void> {
    signal?.throwIfAborted();
    const measured = await measure(file, signal);
    if (await reuse(path, measured, pack)) return;
    const place = await draft.keep(path, measured.bytes, { isShared: isShared(path), signal });
    stored_bytes += measured.bytes;
    files.push({ ...place, ...measured, ...factsOf(pack) });
  }

  async function reuse(
    path: string,
    measured: { bytes: number; sha256: string },
    pack?: PackFacts,
  ): Promise<boolean> {
    const reused = await former.reuse(draft, { path, ...measured });
    if (reused !== null) files.push({ ...reused, ...factsOf(pack) });
    return reused !== null;
  }

  /** Spares the copy if the former backup has the file. */
  async function reuseUncopied(path: string, from: string): Promise<boolean> {
    if (!former.hasSize(path, (await stat(from)).size)) return false;
    return reuse(path, await measure(from, signal));
  }

  /** Copies a file, unless it is gone. */
  async function addCopy(path: string, from: string): Promise<void> {
    const file = await draft.place(path);
    try {
      if (await reuseUncopied(path, from)) return;
      await copyFileTo(from, file, signal);
    } catch (error) {
      if (!hasCode(error, 'ENOENT')) throw error;
      await rm(file, { force: true });
      return;
    }
    await keep(path, file);
  }

  const dialect = config.databaseUrl === null ? 'sqlite' : 'postgres';
  const database = await draft.place(databaseFile(dialect));
  const database_at = timestamp(clock);
  const contents = await copyDatabase(config, database, readContents, { log, signal });
  await keep(databaseFile(dialect), database);
  // Pruning sees this backup since its first file is stored, and then keeps the files that it may reuse.
  if (options.isFull !== true)
    former = formerFilesOf(await readableFormer(storage, platform, log), storage, log);

  if (options.withSealingKey) await addCopy('sealing.key', sealingKeyFile(config));
  for (const { name: path, file } of ownFiles(config)) await addCopy(path, file);
  const seen: BackedUpWebsite[] = [];
  if (websites !== null) {
    for (const { name: path, file } of await websites.hostFiles()) await addCopy(`host/${path}`, file);
    for (const install of contents.installs) {
      const website = await addWebsite(install);
      if (website !== null) seen.push(website);
      options.onProgress?.({ websites: seen.length, of: contents.installs.length, bytes: sum(files) });
    }
  }

  /** Null if the install was deleted meanwhile. */
  async function addWebsite(install: { id: string; name: string }): Promise<BackedUpWebsite | null> {
    if (websites === null) return null;
    const paths = websiteStoreOf(install.id);
    const manifest = await draft.place(paths.manifest);
    const packs = dirname(await draft.place(`${paths.packs}/pack`));
    const formerPacks = await provideFormerPacks(draft, former, paths.packs);
    const copied = await storeUnlessChanging(parts, websites, {
      install,
      backupId: id,
      to: { manifest, packs },
      signal,
    });
    for (const { name: pack, ...facts } of copied.packs) {
      const path = `${paths.packs}/${pack}`;
      const reused = formerPacks.get(pack);
      if (reused === undefined) await keep(path, join(packs, pack), facts);
      else files.push({ ...reused, pack: facts });
    }
    const needed = new Set(copied.packs.map(({ name: pack }) => pack));
    for (const pack of await readdir(packs)) {
      if (!needed.has(pack)) await rm(join(packs, pack));
    }
    if (copied.missing === null) await keep(paths.manifest, manifest);
    else if (!(await isInstall(parts.database.reader, install.id))) return null;
    await websites.withFilesOf(
      install.id,
      async (ofInstall, damaged) => {
        if (damaged > 0) log.warn(`${damaged} backups of the install ${install.name} are damaged`);
        for (const { name: path, file } of ofInstall) await addCopy(`host/${path}`, file);
      },
      signal,
    );
    return { ...install, missing: copied.missing, changing: copied.changing };
  }

  return {
    format: 'homeport-platform-backup',
    version: FORMAT_VERSION,
    id,
    name,
    homeport_version: options.version,
    public_url: config.publicUrl,
    platform,
    created_at,
    database_at,
    finished_at: timestamp(clock),
    host: config.host,
    database: { dialect, migrations: contents.migrations },
    sealing_key: options.withSealingKey,
    not_included: notIncluded(config, options.withSealingKey),
    websites: seen,
    files,
    bytes: sum(files),
    stored_bytes,
  };
}

const factsOf = (pack: PackFacts | undefined) => (pack === undefined ? {} : { pack });

const sum = (files: BackedUpFile[]): number => files.reduce((bytes, file) => bytes + file.bytes, 0);

function notIncluded(config: Config, withSealingKey: boolean): string[] {
  const sealingKey =
    'The sealing key. Without it, the private keys in the database cannot be read: keep it elsewhere.';
  const linux =
    'The websites: their files and databases are on the Linux hosts, and in the backup repository of those (HOMEPORT_BACKUP_REPOSITORY).';
  return [
    ...(withSealingKey ? [] : [sealingKey]),
    ...(config.host === 'linux' ? [linux] : []),
    'The settings (environment and settings file), and files that they name.',
    'Mails that were written into the data folder.',
  ];
}

/** The API's generated certificate and key, by their names in the data folder; empty if the operator configured others. */
function ownFiles({ dataDir, tlsCert }: Pick<Config, 'dataDir' | 'tlsCert'>): HostFile[] {
  if (tlsCert !== null) return [];
  return [
    { name: 'tls/api.crt', file: ownCertificateFile(dataDir) },
    { name: 'tls/api.key', file: ownKeyFile(dataDir) },
  ];
}
