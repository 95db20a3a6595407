import Type, { type Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { BLOCK_BYTES, END_OF_ARCHIVE, fileHeader, padding } from './tar-blocks.ts';

/**
 * A backup is one tar archive, which restic stores as one file:
 *
 * | member | content |
 * |---|---|
 * | `homeport.json` | the website that it is of ({@link Description}) |
 * | `database.sql` | its database |
 * | `kept.list` | in archives of changes only: what the website has from the backup that they are based on |
 * | `htdocs/…`, `private/…` | its files, as tar wrote them |
 * | `manifest.json` | size, number and checksum of everything before ({@link Manifest}) |
 *
 * Any tar can unpack it, it is read and written in one pass, and equal websites give equal archives.
 */
export const DESCRIPTION_NAME = 'homeport.json';
export const DUMP_NAME = 'database.sql';
export const KEPT_NAME = 'kept.list';
const MANIFEST_NAME = 'manifest.json';

const descriptionSchema = Type.Object({
  format: Type.Literal('homeport-backup'),
  version: Type.Literal(1),
  install_id: Type.String(),
  install_name: Type.String(),
  /** The website's main host name. */
  primary_hostname: Type.String(),
  wordpress_version: Type.String(),
  /** The backup with all other files, in an archive of changes: the last copy of a move. */
  base: Type.Optional(Type.String()),
});
export type Description = Static<typeof descriptionSchema>;

const manifestSchema = Type.Object({
  /** Regular files of the website. */
  files: Type.Integer({ minimum: 0 }),
  /** Everything before this member. */
  bytes: Type.Integer({ minimum: 0 }),
  sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
});
export type Manifest = Static<typeof manifestSchema>;

const description = Compile(descriptionSchema);
const manifest = Compile(manifestSchema);

/** Length of the manifest with its header and the end of the archive. It is constant, so that a reader knows where the manifest begins. */
export const TAIL_BYTES = 2 * BLOCK_BYTES + END_OF_ARCHIVE.length;
/** Longest description. */
export const MOST_DESCRIPTION_BYTES = 64 * 1024;
/** Longest list of what is kept, for some millions of files. It is read into memory, and may come from a machine that was broken into. */
export const MOST_KEPT_BYTES = 256 * 1024 * 1024;

/** An archive that differs from what was written. `message` says how, without a full stop. */
export class DamagedBackupError extends Error {
  override name = 'DamagedBackupError';
}

/** A small member in full. */
export function member(name: string, text: string): Buffer {
  const content = Buffer.from(text);
  return Buffer.concat([fileHeader(name, content.length), content, padding(content.length)]);
}

export function tailOf(value: Manifest): Buffer {
  // JSON ignores spaces, so the length is always one block.
  const text = JSON.stringify(value).padEnd(BLOCK_BYTES);
  return Buffer.concat([member(MANIFEST_NAME, text), END_OF_ARCHIVE]);
}

/** Throws {@link DamagedBackupError}. */
export function parseTail(tail: Buffer): Manifest {
  const value = parseJson(tail.toString('utf8', BLOCK_BYTES, 2 * BLOCK_BYTES));
  if (!manifest.Check(value) || !tailOf(value).equals(tail))
    throw new DamagedBackupError('its end is invalid');
  return value;
}

/** Throws {@link DamagedBackupError}. */
export function parseDescription(text: string): Description {
  const value = parseJson(text);
  if (!description.Check(value)) throw new DamagedBackupError(`its ${DESCRIPTION_NAME} is invalid`);
  return value;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
