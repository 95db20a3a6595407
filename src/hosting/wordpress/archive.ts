import { createReadStream, createWriteStream } from 'node:fs';
import { copyFile, lstat, mkdir, readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import tar from 'tar-stream';
import { MINUTE_MS } from '../../lib/durations.ts';
import { messageOf } from '../../lib/error-message.ts';
import { runCommand } from '../../lib/run-command.ts';
import { PermanentHostError } from '../contract/errors.ts';

const TIMEOUT_MS = 5 * MINUTE_MS;
/** Ten times as much as WordPress needs. A small archive can have any size unpacked. */
export const MOST_UNPACKED = { bytes: 1024 ** 3, entries: 50_000 };

/** Whether {@link unpackArchive} can read a file of that name. */
export function isArchiveName(name: string): boolean {
  return kindOf(name) !== null;
}

function kindOf(name: string): 'zip' | 'tar' | null {
  if (/\.zip$/i.test(name)) return 'zip';
  return /\.(tar\.gz|tgz)$/i.test(name) ? 'tar' : null;
}

/**
 * Unpacks an archive into a new folder, and returns the folder inside that contains everything. Refuses links, special files and
 * names that lead outside, and archives that are larger than `most` unpacked. Zip archives need the program `unzip`.
 *
 * @throws PermanentHostError saying what is wrong with the archive
 */
export async function unpackArchive(archive: string, folder: string, most = MOST_UNPACKED): Promise<string> {
  const kind = kindOf(archive);
  if (kind === null) throw new PermanentHostError(`${archive} is neither a .zip nor a .tar.gz`);
  await mkdir(folder, { mode: 0o700 });
  const content = join(folder, 'content');
  await mkdir(content, { mode: 0o700 });
  try {
    if (kind === 'zip') await unzip(archive, folder, content, most);
    else await untar(archive, content, most);
  } catch (error) {
    if (error instanceof PermanentHostError) throw error;
    throw new PermanentHostError(`${archive} cannot be unpacked: ${messageOf(error)}`, { cause: error });
  }
  return singleFolderIn(content);
}

async function unzip(
  archive: string,
  folder: string,
  content: string,
  most: typeof MOST_UNPACKED,
): Promise<void> {
  // Under a name of ours: the program would misread a name with a leading `-` or with `[`.
  const own = join(folder, '.archive.zip');
  await copyFile(archive, own);
  const entries = await zipEntries(own);
  refuseForeign(archive, entries);
  refuseLarger(archive, most, { bytes: sum(entries), entries: entries.length });
  await run('unzip', ['-qq', '-n', own, '-d', content]);
}

/** Types of tar entries as `ls -l` shows them. */
const TAR_TYPES: Readonly<Record<string, string>> = {
  file: '-',
  'contiguous-file': '-',
  directory: 'd',
  symlink: 'l',
  link: 'h',
};

async function untar(archive: string, content: string, most: typeof MOST_UNPACKED): Promise<void> {
  const entries = tar.extract();
  const read = pipeline(createReadStream(archive), createGunzip(), entries);
  // The loop reports the failure.
  read.catch(() => {});
  let count = 0;
  let bytes = 0;
  for await (const entry of entries) {
    const { name, type, size = 0 } = entry.header;
    refuseForeign(archive, [{ type: TAR_TYPES[type ?? 'file'] ?? '?', name, size }]);
    count++;
    bytes += size;
    refuseLarger(archive, most, { bytes, entries: count });
    const place = join(content, name);
    if (type === 'directory') {
      await mkdir(place, { recursive: true });
      entry.resume();
    } else {
      await mkdir(dirname(place), { recursive: true });
      await pipeline(entry, createWriteStream(place, { flags: 'wx' }));
    }
  }
  await read;
  if (count === 0) refuseForeign(archive, []);
}

const run = (program: string, args: string[]) => runCommand(program, args, { timeoutMs: TIMEOUT_MS });

export interface ArchiveEntry {
  /** The first character of a line of `ls -l`: `-`, `d`, `l`. */
  type: string;
  name: string;
  /** Bytes of its content, unpacked. */
  size: number;
}

const sum = (entries: readonly ArchiveEntry[]): number =>
  entries.reduce((bytes, { size }) => bytes + size, 0);

function refuseLarger(archive: string, most: typeof MOST_UNPACKED, found: typeof MOST_UNPACKED): void {
  if (found.bytes > most.bytes) {
    throw new PermanentHostError(
      `${archive} has more than ${most.bytes} bytes unpacked: WordPress is smaller`,
    );
  }
  if (found.entries > most.entries) {
    throw new PermanentHostError(`${archive} has more than ${most.entries} entries: WordPress has fewer`);
  }
}

/** Throws a {@link PermanentHostError} for the first entry that is not allowed. */
export function refuseForeign(archive: string, entries: readonly ArchiveEntry[]): void {
  if (entries.length === 0) throw new PermanentHostError(`${archive} is empty`);
  for (const { type, name } of entries) {
    if (type === 'l' || type === 'h') {
      throw new PermanentHostError(`${archive} contains a link, ${name}: WordPress has no links`);
    }
    if (type !== '-' && type !== 'd') {
      throw new PermanentHostError(`${archive} contains ${name}, which is neither a file nor a folder`);
    }
    if (name.startsWith('/') || name.split(/[/\\]/).includes('..')) {
      throw new PermanentHostError(`${archive} contains a name that leads outside: ${name}`);
    }
  }
}

async function zipEntries(archive: string): Promise<ArchiveEntry[]> {
  // -Z: zipinfo; -s: with the type of each entry. The pattern `*` leaves out header and totals.
  const { stdout } = await run('unzip', ['-Z', '-s', archive, '*']);
  return linesOf(stdout).map(parseZipLine);
}

/** Parses `-rw-r--r--  3.0 unx      405 tx defN 20-Feb-06 06:33 wordpress/index.php`. */
export function parseZipLine(line: string): ArchiveEntry {
  const match = /^(.)\S*\s+\S+\s+\S+\s+(\d+)\s+\S+\s+\S+\s+\S+\s+\S+ (.*)$/.exec(line);
  if (match?.[1] === undefined || match[3] === undefined) {
    throw new PermanentHostError(`cannot parse this line from unzip: ${line}`);
  }
  // Archives from systems such as DOS have no types: there, only the name shows a folder.
  return { type: match[1] === '?' ? '-' : match[1], name: match[3], size: Number(match[2]) };
}

const linesOf = (text: string) => text.split('\n').filter((line) => line !== '');

/** Archives of WordPress contain one folder, `wordpress`, with everything in it. */
async function singleFolderIn(folder: string): Promise<string> {
  const names = await readdir(folder);
  const [only] = names;
  if (names.length === 1 && only !== undefined && (await lstat(join(folder, only))).isDirectory()) {
    return join(folder, only);
  }
  return folder;
}
