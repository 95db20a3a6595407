import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import { KNOWN_MIGRATIONS } from '../database/migrate.ts';
import { SQLITE_FILE } from '../database/open.ts';
import { requireEmpty, restorePostgres } from '../database/postgres-dump.ts';
import { createFolders } from '../lib/create-folders.ts';
import { syncFolder } from '../lib/durable-file.ts';
import { ifThere } from '../lib/if-there.ts';
import { OperatorError } from '../lib/operator-error.ts';
import { readSealingKey, sealingKeyFile, sealingKeyFingerprint } from '../secrets/sealing-key.ts';
import { readChecked } from './checked-copy.ts';
import { DamagedBackup, databaseFile, type Manifest, requireNotNewer } from './manifest.ts';
import { isNoRoom } from './no-room.ts';
import { BACKUP_LOCK } from './one-at-a-time.ts';
import type { BackupStorage } from './storage.ts';
import { readManifest, requireDatabase } from './verify.ts';
import { storeOrArchiveOf, WEBSITE_FILE } from './website-copy.ts';
import type { WebsiteParts } from './website-parts.ts';

/** Files that this program, or an earlier version (`.writable`), creates itself in an otherwise empty folder. */
const NO_CONTENT = new Set([
  'lost+found',
  '.writable',
  ...['websites.lock', 'websites-waiting.lock', BACKUP_LOCK].flatMap((name) => [name, `${name}-journal`]),
]);
const WORKSHOP = '.restoring';
/** Files that go to the same path below the data folder, besides those of the host itself. */
const IN_PLACE =
  /^(tls\/api\.(crt|key)|host\/vhosts\/[0-9a-f-]{36}\.json|host\/snapshots\/[0-9a-f-]{36}\/([0-9a-f-]{36}\.(backup\.jsonl|tar\.zst|manifest\.jsonl)|packs\/[0-9a-f]{64}\.pack(\.damaged)?))$/;

export interface RestoreOptions {
  storage: BackupStorage;
  name: string;
  websites: WebsiteParts | null;
  version: string;
  /** File with the sealing key; null: the backup's, or the configured one. */
  sealingKey: string | null;
  /** Continue without the sealing key of the backup's private keys. */
  withoutSealingKey: boolean;
  log: Logger;
  onProgress?: (files: number, of: number) => void;
}

/**
 * Restores a backup into an empty data folder (and an empty PostgreSQL database). Reads, checks and unpacks everything
 * in a folder beside it before moving it into place, the database last. Errors: OperatorError, DamagedBackup.
 */
export async function restorePlatformBackup(config: Config, options: RestoreOptions): Promise<Manifest> {
  const { storage, name, log } = options;
  const manifest = await readManifest(storage, name);
  requireNotNewerThanThis(manifest, options.version);
  requireSameKind(manifest, config);
  await requireEmptyFolder(config.dataDir);
  if (config.databaseUrl !== null) await requireEmpty(config.databaseUrl, log);
  const workshop = join(config.dataDir, WORKSHOP);
  await rm(workshop, { recursive: true, force: true });
  createFolders(workshop, 0o700);
  try {
    const fetched = join(workshop, 'fetched');
    const ready = join(workshop, 'ready');
    for (const folder of [fetched, ready]) await mkdir(folder, { mode: 0o700 });
    await fetchAll(manifest, options, fetched);
    await placeSealingKey(config, manifest, options, { fetched, ready });
    const database = join(fetched, databaseFile(manifest.database.dialect));
    await requireDatabase(manifest, database);
    await unpack(manifest, options, { fetched, ready });
    if (config.databaseUrl !== null) await restorePostgres(config.databaseUrl, database, { log });
    await moveIn(ready, config.dataDir);
    // Without it, a starting server finds no database rather than a partial restore.
    if (config.databaseUrl === null) await rename(database, join(config.dataDir, SQLITE_FILE));
    await syncFolder(config.dataDir);
  } catch (error) {
    if (!isNoRoom(error)) throw error;
    const where = config.databaseUrl === null ? '' : ', or in the database';
    throw new OperatorError(
      `There is no room in ${config.dataDir}${where} for what ${name} holds. Nothing is restored. ` +
        'Make room, and try again. Unpacked websites need more than the backup.',
      { cause: error },
    );
  } finally {
    await rm(workshop, { recursive: true, force: true });
  }
  return manifest;
}

function requireNotNewerThanThis(manifest: Manifest, version: string): void {
  requireNotNewer(manifest, { version, migrations: KNOWN_MIGRATIONS });
}

function requireSameKind({ name, database, host }: Manifest, config: Config): void {
  if (database.dialect === 'postgres' && config.databaseUrl === null) {
    throw new OperatorError(
      `${name} holds a PostgreSQL database. Create an empty one, and name it in HOMEPORT_DATABASE_URL.`,
    );
  }
  if (database.dialect === 'sqlite' && config.databaseUrl !== null) {
    throw new OperatorError(`${name} holds a SQLite database. Leave HOMEPORT_DATABASE_URL out.`);
  }
  if (host !== config.host) {
    throw new OperatorError(`${name} is of a platform with HOMEPORT_HOST=${host}. Set the same here.`);
  }
}

async function requireEmptyFolder(dataDir: string): Promise<void> {
  const names = ((await ifThere(readdir(dataDir))) ?? []).filter(
    (name) => !NO_CONTENT.has(name) && name !== WORKSHOP,
  );
  const [first] = names.sort();
  if (first === undefined) return;
  throw new OperatorError(
    `${dataDir} is not empty: it holds ${first}${names.length > 1 ? ` and ${names.length - 1} more` : ''}. ` +
      'Name an empty folder in HOMEPORT_DATA_DIR, or move away what is there.',
  );
}

async function fetchAll(
  manifest: Manifest,
  { storage, name, websites, onProgress }: RestoreOptions,
  fetched: string,
): Promise<void> {
  const expected = new Set([databaseFile(manifest.database.dialect), 'sealing.key']);
  const isInPlace = filesInPlace(websites);
  for (const [index, file] of manifest.files.entries()) {
    if (!expected.has(file.path) && !isInPlace(file) && !WEBSITE_FILE.test(file.path))
      throw new DamagedBackup(`${name} holds ${file.path}, which no backup of this format does.`);
    const to = join(fetched, file.path);
    await mkdir(dirname(to), { recursive: true, mode: 0o700 });
    await readChecked(storage, name, file, { to });
    onProgress?.(index + 1, manifest.files.length);
  }
}

/** Whether a file goes to the same path below the data folder. */
function filesInPlace(websites: WebsiteParts | null): (file: { path: string }) => boolean {
  const ofHost = new Set(websites?.hostFileNames.map((name) => `host/${name}`));
  return ({ path }) => ofHost.has(path) || IN_PLACE.test(path);
}

interface Folders {
  fetched: string;
  ready: string;
}

async function placeSealingKey(
  config: Config,
  manifest: Manifest,
  { name, sealingKey, withoutSealingKey }: RestoreOptions,
  { fetched, ready }: Folders,
): Promise<void> {
  const key = readSealingKey(
    sealingKey ?? (config.sealingKey === null ? join(fetched, 'sealing.key') : sealingKeyFile(config)),
  );
  if (key === null || sealingKeyFingerprint(key) !== manifest.platform) {
    if (withoutSealingKey) return;
    throw new OperatorError(
      `${key === null ? `There is no sealing key in ${name}` : 'This is not the sealing key that the private keys in the backup were sealed with'}. ` +
        'Name its file with --sealing-key. If it is lost, --without-sealing-key restores the rest; certificates are then made again.',
    );
  }
  if (config.sealingKey === null)
    await writeFile(join(ready, 'sealing.key'), key.toString('base64'), {
      mode: 0o600,
      flag: 'wx',
      flush: true,
    });
}

async function unpack(
  manifest: Manifest,
  { websites }: RestoreOptions,
  { fetched, ready }: Folders,
): Promise<void> {
  for (const { path } of manifest.files.filter(filesInPlace(websites))) {
    const to = join(ready, path);
    await mkdir(dirname(to), { recursive: true, mode: 0o700 });
    await rename(join(fetched, path), to);
    await syncFolder(dirname(to));
  }
  if (websites === null) return;
  for (const { id, missing } of manifest.websites) {
    if (missing !== null) continue;
    const from = storeOrArchiveOf(id, manifest, fetched);
    await websites.extract(id, manifest.id, from, join(ready, 'host'));
    for (const path of Object.values(from)) await rm(path, { recursive: true });
  }
}

async function moveIn(ready: string, dataDir: string): Promise<void> {
  for (const name of await readdir(ready)) await rename(join(ready, name), join(dataDir, name));
  await syncFolder(dataDir);
}
