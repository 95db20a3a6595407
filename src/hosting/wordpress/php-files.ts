import { randomUUID } from 'node:crypto';
import { chmod, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ifThere } from '../../lib/if-there.ts';

/** Folder of the host's PHP files in a core, visible to every website on that core. Nothing links to it, so visitors cannot reach it. */
const LIBRARY = 'homeport';
/** Replaces the core's own configuration. */
const DISPATCHER = 'wp-config.php';
const SOURCE = fileURLToPath(new URL('./php/', import.meta.url));

/** Path of one of our PHP files in a core. */
export function phpFileOf(core: string, name: string): string {
  return join(core, LIBRARY, name);
}

/** Writes our PHP files into a core, and removes obsolete ones. Does not touch unchanged files. */
export async function writePhpFiles(core: string): Promise<void> {
  const library = join(core, LIBRARY);
  await mkdir(library, { recursive: true, mode: 0o755 });
  const names = (await readdir(SOURCE)).filter((name) => name.endsWith('.php'));
  for (const name of names) {
    const content = await readFile(join(SOURCE, name));
    await writeChanged(name === DISPATCHER ? join(core, name) : join(library, name), content);
  }
  const expected = new Set(names.filter((name) => name !== DISPATCHER));
  for (const name of await readdir(library)) {
    if (!expected.has(name)) await rm(join(library, name), { recursive: true, force: true });
  }
}

async function writeChanged(path: string, content: Buffer): Promise<void> {
  if ((await ifThere(readFile(path)))?.equals(content)) return;
  const temporary = `${path}.${randomUUID()}`;
  await writeFile(temporary, content, { flag: 'wx', mode: 0o644, flush: true });
  // All websites read it, whatever this process's umask is.
  await chmod(temporary, 0o644);
  await rename(temporary, path);
}
