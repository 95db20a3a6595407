import { createHash, randomBytes } from 'node:crypto';
import { mkdir, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { OWN_PREFIX, removeAbandoned } from './abandoned-entries.ts';

/** The longest path of a socket is 104 bytes on macOS. */
const LONGEST_FOLDER = 74;
/** A process id of 7 digits, a hyphen and 4 random bytes. */
const LONGEST_NAME = 16;

/** Creates a folder below `folder` for the processes of this server alone, or elsewhere if sockets need a shorter path. */
export async function createProcessFolder(folder: string): Promise<string> {
  if (isTooLong(folder)) return mkdtemp(join(tmpdir(), prefixElsewhere(folder) + OWN_PREFIX));
  const usual = join(folder, OWN_PREFIX + randomBytes(4).toString('hex'));
  await mkdir(usual, { recursive: true, mode: 0o700 });
  return usual;
}

/** Removes the folders of servers that were killed. Call it before {@link createProcessFolder}. */
export async function removeProcessFolders(folder: string, log: Logger): Promise<void> {
  await removeAbandoned(folder, log);
  if (isTooLong(folder)) await removeAbandoned(tmpdir(), log, prefixElsewhere(folder));
}

function isTooLong(folder: string): boolean {
  return Buffer.byteLength(folder) + 1 + LONGEST_NAME > LONGEST_FOLDER;
}

function prefixElsewhere(folder: string): string {
  return `homeport-php-${createHash('sha256').update(folder).digest('hex').slice(0, 8)}-`;
}
