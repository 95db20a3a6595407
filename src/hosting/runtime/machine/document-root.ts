import { constants } from 'node:fs';
import { chmod, type FileHandle, mkdir, open, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from '../../../lib/error-code.ts';
import type { Shown } from './sandbox.ts';

/** Folders of WordPress that come from the core alone. */
export const CORE_FOLDERS: ReadonlySet<string> = new Set(['wp-admin', 'wp-includes']);
/** Files that only a website has. Debian's core has one. */
const OWN_FILES = new Set(['wp-config.php', '.htaccess']);
/** Further folders are shown by the overlay itself. Each takes a descriptor of the start. */
const MOST_FOLDERS = 64;
const ROOT = '/wordpress';

/** One mount of the folder that PHP sees as `/wordpress`. */
export interface RootMount {
  /** Options and place of the overlay. */
  options: string;
  place: string;
  /** The mounts over it, so that PHP changes nothing of the core and sees changes of folders at once. */
  over: Shown[];
  /** Their folders. Close them when the program has started. */
  opened: FileHandle[];
  /** The time of the last change in the top folder of the website that it knows. */
  changedAt: bigint;
  remove(): Promise<void>;
}

/**
 * The document root: the files of the website, and below them those of the core. An overlay gives places for the files of the core without
 * putting any into the website's folder. It is not made for changes from outside: a process that has an older mount than the last change in
 * the top folder needs a new one.
 */
export interface DocumentRoot {
  mount(): Promise<RootMount>;
  changedAt(): Promise<bigint>;
}

/** `folder`: an existing folder on the file system of the website. */
export async function createDocumentRoot(
  folder: string,
  { core, website }: { core: string; website: string },
): Promise<DocumentRoot> {
  const coreEntries = await readdir(core, { withFileTypes: true });
  const coreFiles = coreEntries
    .filter((entry) => entry.isFile() && !OWN_FILES.has(entry.name))
    .map(({ name }) => name);
  const folders = coreEntries.map(({ name }) => name).filter((name) => CORE_FOLDERS.has(name));
  let last = 0;

  const changedAt = async (): Promise<bigint> => (await stat(website, { bigint: true })).mtimeNs;

  return {
    changedAt,
    async mount() {
      const number = ++last;
      const lower = join(folder, `lower-${number}`);
      const work = join(folder, `work-${number}`);
      const place = join(folder, `root-${number}`);
      for (const path of [work, place]) await mkdir(path, { mode: 0o700 });
      await mkdir(lower, { mode: 0o755 });
      const known = await changedAt();
      const entries = (await readdir(website, { withFileTypes: true })).filter(
        ({ name }) => !CORE_FOLDERS.has(name),
      );
      const own = new Set(entries.map(({ name }) => name));
      // If PHP deleted a file of the website that covers one of these, the kernel would mark the deletion in the website's folder.
      const places = coreFiles.filter((name) => !own.has(name));
      for (const name of places) await writeFile(join(lower, name), '');
      for (const name of folders) await mkdir(join(lower, name));
      const opened: FileHandle[] = [];
      const over: Shown[] = [...folders, ...places].map((name) => ({
        from: join(core, name),
        to: `${ROOT}/${name}`,
      }));
      for (const { name } of entries.filter((entry) => entry.isDirectory()).slice(0, MOST_FOLDERS)) {
        const handle = await openFolder(join(website, name));
        if (handle === null) continue;
        opened.push(handle);
        over.push({ from: handle, to: `${ROOT}/${name}`, isWritable: true });
      }
      const layers = { lowerdir: lower, upperdir: website, workdir: work };
      return {
        options: [
          ...Object.entries(layers).map(([name, path]) => `${name}=${path.replace(/[\\:,]/g, '\\$&')}`),
          ...['userxattr', 'index=off', 'metacopy=off', 'redirect_dir=nofollow', 'xino=off'],
        ].join(','),
        place,
        over,
        opened,
        changedAt: known,
        async remove() {
          // The kernel makes a folder that even its owner cannot read.
          await chmod(join(work, 'work'), 0o700).catch(() => undefined);
          for (const path of [lower, work, place]) await rm(path, { recursive: true, force: true });
        },
      };
    },
  };
}

/** Null if its owner has put something else in its place. */
async function openFolder(path: string): Promise<FileHandle | null> {
  try {
    return await open(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR', 'ELOOP')) return null;
    throw error;
  }
}
