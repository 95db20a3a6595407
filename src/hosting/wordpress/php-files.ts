import { randomUUID } from 'node:crypto';
import { chmod, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ifThere } from '../../lib/if-there.ts';
import { PermanentHostError } from '../contract/errors.ts';

/** Folder of the host's PHP files in a core, visible to every website on that core. Nothing links to it, so visitors cannot reach it. */
const LIBRARY = 'homeport';
/** Replaces the core's own configuration. */
const DISPATCHER = 'wp-config.php';
const LOADER = 'wp-load.php';
/** Runs before WordPress's own {@link LOADER}. On its first line, so that the numbers of the others stay. */
const ROOT_FIRST = `<?php require_once __DIR__ . '/${LIBRARY}/document-root.php';`;
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
  const expected = new Set(names.filter((name) => name !== DISPATCHER));
  const present = new Set(await readdir(library));
  // New ones first and the dispatcher last, because running websites load them, and changed ones can load new ones.
  const ordered = [...expected].sort((a, b) => Number(present.has(a)) - Number(present.has(b)));
  for (const name of ordered) await writeChanged(join(library, name), await readFile(join(SOURCE, name)));
  await writeChanged(join(core, DISPATCHER), await readFile(join(SOURCE, DISPATCHER)));
  for (const name of await readdir(library)) {
    if (!expected.has(name)) await rm(join(library, name), { recursive: true, force: true });
  }
}

/**
 * Lets `wp-load.php` of a core that websites link to take the website's document root as ABSPATH. PHP resolves links, so it would take
 * the core.
 *
 * @throws PermanentHostError if the file does not begin as WordPress's does
 */
export async function takeDocumentRoot(core: string): Promise<void> {
  const path = join(core, LOADER);
  const text = await readFile(path, 'utf8');
  if (text.startsWith(ROOT_FIRST)) return;
  if (!/^<\?php\b/.test(text)) throw new PermanentHostError(`${path} does not begin with <?php`);
  await writeChanged(path, Buffer.from(text.replace('<?php', () => ROOT_FIRST)));
}

async function writeChanged(path: string, content: Buffer): Promise<void> {
  if ((await ifThere(readFile(path)))?.equals(content)) return;
  const temporary = `${path}.${randomUUID()}`;
  await writeFile(temporary, content, { flag: 'wx', mode: 0o644, flush: true });
  // All websites read it, whatever this process's umask is.
  await chmod(temporary, 0o644);
  await rename(temporary, path);
}
