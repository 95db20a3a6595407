import { copyFile, lstat, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { MINUTE_MS } from '../../../lib/durations.ts';
import { messageOf } from '../../../lib/error-message.ts';
import { PermanentHostError } from '../../contract/host.ts';
import { runCommand } from '../machine/run-command.ts';

const TIMEOUT_MS = 5 * MINUTE_MS;

/** Whether a file of that name is an archive that {@link unpackArchive} can read. */
export function isArchiveName(name: string): boolean {
  return kindOf(name) !== null;
}

function kindOf(name: string): 'zip' | 'tar' | null {
  if (/\.zip$/i.test(name)) return 'zip';
  return /\.(tar\.gz|tgz)$/i.test(name) ? 'tar' : null;
}

/**
 * Unpacks an archive into a new folder and gives the folder in it that holds everything. Refused, before anything is written,
 * are names that lead outside, links, and whatever is neither file nor folder.
 *
 * @throws PermanentHostError saying what is wrong with it
 */
export async function unpackArchive(archive: string, folder: string): Promise<string> {
  const kind = kindOf(archive);
  if (kind === null) throw new PermanentHostError(`${archive} is neither a .zip nor a .tar.gz`);
  await mkdir(folder, { mode: 0o700 });
  // A name of our own: what begins with `-` or holds `[` would mean something else to the programs.
  const own = join(folder, kind === 'zip' ? '.archive.zip' : '.archive.tar.gz');
  await copyFile(archive, own);
  const content = join(folder, 'content');
  await mkdir(content, { mode: 0o700 });
  try {
    refuseForeign(archive, kind === 'zip' ? await zipEntries(own) : await tarEntries(own));
    if (kind === 'zip') await run('unzip', ['-qq', '-n', own, '-d', content]);
    else await run('tar', ['-xzf', own, '-C', content, '--no-same-owner', '--no-same-permissions']);
  } catch (error) {
    if (error instanceof PermanentHostError) throw error;
    throw new PermanentHostError(`${archive} cannot be unpacked: ${messageOf(error)}`, { cause: error });
  }
  return singleFolderIn(content);
}

const run = (program: string, args: string[]) => runCommand(program, args, { timeoutMs: TIMEOUT_MS });

export interface ArchiveEntry {
  /** As `ls -l` begins a line: `-`, `d`, `l`. */
  type: string;
  name: string;
}

/** Pure: throws a {@link PermanentHostError} for the first entry that may not be in an archive. */
export function refuseForeign(archive: string, entries: readonly ArchiveEntry[]): void {
  if (entries.length === 0) throw new PermanentHostError(`${archive} is empty`);
  for (const { type, name } of entries) {
    if (type === 'l' || type === 'h') {
      throw new PermanentHostError(`${archive} holds a link, ${name}: WordPress has none`);
    }
    if (type !== '-' && type !== 'd') {
      throw new PermanentHostError(`${archive} holds ${name}, which is neither a file nor a folder`);
    }
    if (name.startsWith('/') || name.split(/[/\\]/).includes('..')) {
      throw new PermanentHostError(`${archive} holds a name that leads outside: ${name}`);
    }
  }
}

async function tarEntries(archive: string): Promise<ArchiveEntry[]> {
  const { stdout } = await run('tar', [
    '-tvzf',
    archive,
    '--numeric-owner',
    '--quoting-style=escape',
    '--absolute-names',
  ]);
  return linesOf(stdout).map(parseTarLine);
}

/** Pure: `-rw-r--r-- 0/0   405 2020-02-06 06:33 wordpress/index.php`. */
export function parseTarLine(line: string): ArchiveEntry {
  const match = /^(.)\S*\s+\S+\s+\S+\s+\S+\s+\S+ (.*)$/.exec(line);
  if (match?.[1] === undefined || match[2] === undefined) {
    throw new PermanentHostError(`tar lists what is not understood: ${line}`);
  }
  return { type: match[1], name: match[2] };
}

async function zipEntries(archive: string): Promise<ArchiveEntry[]> {
  // -Z: zipinfo; -s: with the type of each entry. Names of members, all of them, spare header and totals.
  const { stdout } = await run('unzip', ['-Z', '-s', archive, '*']);
  return linesOf(stdout).map(parseZipLine);
}

/** Pure: `-rw-r--r--  3.0 unx      405 tx defN 20-Feb-06 06:33 wordpress/index.php`. */
export function parseZipLine(line: string): ArchiveEntry {
  const match = /^(.)\S*\s+\S+\s+\S+\s+\S+\s+\S+\s+\S+\s+\S+\s+\S+ (.*)$/.exec(line);
  if (match?.[1] === undefined || match[2] === undefined) {
    throw new PermanentHostError(`unzip lists what is not understood: ${line}`);
  }
  // Archives made on DOS and the like know no types: there only the name tells a folder.
  return { type: match[1] === '?' ? '-' : match[1], name: match[2] };
}

const linesOf = (text: string) => text.split('\n').filter((line) => line !== '');

/** Archives of WordPress hold one folder, `wordpress`, with everything in it. */
async function singleFolderIn(folder: string): Promise<string> {
  const names = await readdir(folder);
  const [only] = names;
  if (names.length === 1 && only !== undefined && (await lstat(join(folder, only))).isDirectory()) {
    return join(folder, only);
  }
  return folder;
}
