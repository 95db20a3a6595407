import { createHash } from 'node:crypto';
import Type, { type Static } from 'typebox';
import { Value } from 'typebox/value';
import { OperatorError } from '../lib/operator-error.ts';
import { BACKUP_NAME } from './storage.ts';

/** Version of the format below. Increase it with every change that older programs cannot restore. */
export const FORMAT_VERSION = 3;
export const MANIFEST_FILE = 'manifest.json';
export const databaseFile = (dialect: 'sqlite' | 'postgres'): string =>
  dialect === 'sqlite' ? 'database.sqlite' : 'database.dump';

const Hash = Type.String({ pattern: '^[0-9a-f]{64}$' });
const Count = Type.Integer({ minimum: 0 });
const Name = '[A-Za-z0-9_-][A-Za-z0-9._-]*';

/** Of a pack, which has contents of a website. */
const PackFacts = Type.Object({
  /** Bytes at its end with the list of its contents. */
  list_bytes: Count,
  /** Bytes that this backup needs. */
  used_bytes: Count,
});
export type PackFacts = Static<typeof PackFacts>;

const BackedUpFile = Type.Object({
  /** Relative, with `/`. No part begins with a dot, so none leads out of the backup. */
  path: Type.String({ pattern: `^${Name}(/${Name})*$`, maxLength: 300 }),
  bytes: Count,
  sha256: Hash,
  /** The backup that stored the file, in a destination where backups share files. Missing: only this backup has it. */
  stored_in: Type.Optional(Type.String({ pattern: BACKUP_NAME.source })),
  pack: Type.Optional(PackFacts),
});
export type BackedUpFile = Static<typeof BackedUpFile>;

const BackedUpWebsite = Type.Object({
  id: Type.String({ format: 'uuid' }),
  name: Type.String(),
  /** Why its files are left out, one sentence; null if they are included. */
  missing: Type.Union([Type.String(), Type.Null()]),
  /** A job changed the website during every copy, so its files may be of several moments. */
  changing: Type.Boolean(),
});
export type BackedUpWebsite = Static<typeof BackedUpWebsite>;

/** Contents of a backup. Written last: a backup without it is not complete. */
const Manifest = Type.Object({
  format: Type.Literal('homeport-platform-backup'),
  version: Type.Integer({ minimum: 1 }),
  id: Type.String({ format: 'uuid' }),
  name: Type.String(),
  /** Version of the program that created it. */
  homeport_version: Type.String(),
  public_url: Type.String(),
  /** Fingerprint of the sealing key. Two platforms that share a destination have different ones. */
  platform: Hash,
  created_at: Type.String(),
  /** The database is as it was at this moment; website files are of the time from then to `finished_at`. */
  database_at: Type.String(),
  finished_at: Type.String(),
  host: Type.Union([Type.Literal('embedded'), Type.Literal('linux')]),
  database: Type.Object({
    dialect: Type.Union([Type.Literal('sqlite'), Type.Literal('postgres')]),
    migrations: Type.Array(Type.String()),
  }),
  sealing_key: Type.Boolean(),
  /** Sentences about the parts left out, for operators. */
  not_included: Type.Array(Type.String()),
  websites: Type.Array(BackedUpWebsite),
  files: Type.Array(BackedUpFile),
  bytes: Count,
  /** Bytes that the backup added to its destination. Backups of earlier versions stored everything. */
  stored_bytes: Type.Optional(Count),
});
export type Manifest = Static<typeof Manifest>;

/** A backup that is damaged, incomplete or none at all. The message says what is wrong. */
export class DamagedBackup extends OperatorError {}

/** The manifest as it is stored: JSON, with a checksum of itself. */
export function manifestText(manifest: Manifest): string {
  return `${JSON.stringify({ ...manifest, sha256: checksumOf(manifest) }, null, 1)}\n`;
}

/** Throws DamagedBackup, and OperatorError if a newer program made it. */
export function parseManifest(text: string, name: string): Manifest {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new DamagedBackup(`The manifest of ${name} is damaged: it is no JSON.`, { cause });
  }
  const format: unknown = fieldOf(value, 'format');
  const version: unknown = fieldOf(value, 'version');
  if (format === 'homeport-platform-backup' && typeof version === 'number' && version > FORMAT_VERSION) {
    throw madeByNewer(name, String(fieldOf(value, 'homeport_version')));
  }
  if (!Value.Check(Manifest, value)) throw new DamagedBackup(`The manifest of ${name} is damaged.`);
  const manifest = Value.Clean(Manifest, structuredClone(value));
  if (!Value.Check(Manifest, manifest) || checksumOf(manifest) !== fieldOf(value, 'sha256')) {
    throw new DamagedBackup(`The manifest of ${name} is damaged: it does not have its checksum.`);
  }
  return manifest;
}

/** Throws OperatorError if this program cannot know everything that the backup holds. */
export function requireNotNewer(
  { name, homeport_version, database }: Manifest,
  { version, migrations }: { version: string; migrations: readonly string[] },
): void {
  const isUnknown = database.migrations.some((migration) => !migrations.includes(migration));
  if (isUnknown || isNewer(homeport_version, version)) throw madeByNewer(name, homeport_version);
}

function madeByNewer(name: string, version: string): OperatorError {
  return new OperatorError(
    `Homeport ${version} made ${name}, and this program is older. Restore it with Homeport ${version} or newer.`,
  );
}

/** Whether a version (`1.2.3`) comes after another. */
function isNewer(version: string, than: string): boolean {
  const [first, second] = [version, than].map((text) => text.split(/[.-]/, 3).map(Number));
  for (const index of [0, 1, 2]) {
    const difference = (first?.[index] ?? 0) - (second?.[index] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return false;
}

function checksumOf(manifest: Manifest): string {
  return createHash('sha256').update(canonical(manifest)).digest('hex');
}

/** JSON with the keys in alphabetical order: reading does not promise theirs. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}
