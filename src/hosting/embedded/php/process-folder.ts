import { createHash, randomBytes } from 'node:crypto';
import { lstat, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { ifThere } from '../../../lib/if-there.ts';

/** The longest path of a socket is 104 bytes on macOS. */
const LONGEST_FOLDER = 70;

/** Creates a folder below `folder` for the processes of this server alone, or elsewhere if sockets need a shorter path. */
export async function createProcessFolder(folder: string): Promise<string> {
  const usual = join(folder, randomBytes(6).toString('hex'));
  if (Buffer.byteLength(usual) > LONGEST_FOLDER) return mkdtemp(elsewhere(folder));
  await mkdir(usual, { recursive: true, mode: 0o700 });
  return usual;
}

/** Removes the folders of servers that were killed. No server may use `folder`. */
export async function removeProcessFolders(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  const prefix = basename(elsewhere(folder));
  for (const name of await readdir(tmpdir())) {
    if (!name.startsWith(prefix)) continue;
    const path = join(tmpdir(), name);
    const found = await ifThere(lstat(path));
    // Other users may write there too.
    if (found?.isDirectory() && found.uid === process.getuid?.()) {
      await rm(path, { recursive: true, force: true });
    }
  }
}

/** The beginning of a path. */
function elsewhere(folder: string): string {
  const owner = createHash('sha256').update(folder).digest('hex').slice(0, 8);
  return join(tmpdir(), `homeport-php-${owner}-`);
}
