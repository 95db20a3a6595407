import { randomUUID } from 'node:crypto';
import { chmod, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ifThere } from '../../../lib/if-there.ts';

/** Folder of the host's own PHP in a core, where every website on that core sees it. Nothing links to it, so no visitor does. */
const LIBRARY = 'homeport';
/** Stands in for the configuration of the core itself. */
const DISPATCHER = 'wp-config.php';
const SOURCE = fileURLToPath(new URL('./php/', import.meta.url));

/** Path of one of our PHP files in a core. */
export function phpFileOf(core: string, name: string): string {
  return join(core, LIBRARY, name);
}

/** Puts our PHP into a core, and takes out what is no longer part of it. What is right already stays as it is. */
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
  // Whatever the umask of this process is, all websites read it.
  await chmod(temporary, 0o644);
  await rename(temporary, path);
}
