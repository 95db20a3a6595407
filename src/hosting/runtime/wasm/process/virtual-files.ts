import fs from 'node:fs';
import { join } from 'node:path';
import type { PhpFolders } from '../process-protocol.ts';
import { type EmscriptenFs, ERRNO, errnoOf, type FsNode, type FsType } from './emscripten.ts';
import { createFixedFiles, type FixedFiles } from './fixed-files.ts';
import { createLiveFiles, type LiveFiles, type LiveFolder } from './live-files.ts';
import { privateFolder, temporaryFolder } from './private-files.ts';

/** Folders of WordPress that come from the core alone. */
const CORE_FOLDERS = new Set(['wp-admin', 'wp-includes']);
/** Files that only a website has. Debian's core has one. */
const OWN_FILES = new Set(['wp-config.php', '.htaccess']);

/** Shows folders of websites to PHP, which sees none of the machine before. */
export interface VirtualFiles {
  /** Shows a website that PHP cannot change, with `/database` in memory, until {@link show} shows another one with the same core. */
  showPattern(folders: PhpFolders): void;
  show(folders: PhpFolders): void;
}

/** Prepares the file systems. `temporary` is called with the name of each temporary file that PHP creates for a request. */
export function createVirtualFiles(FS: EmscriptenFs, temporary: (name: string) => void): VirtualFiles {
  const { NODEFS } = FS.filesystems;
  NODEFS.convertNodeCode = errnoOf;
  // Emscripten flushes nothing by itself: `fsync` ends here.
  NODEFS.syncfs = (_mount, _populate, done) => {
    try {
      for (const stream of FS.streams) {
        if (stream?.nfd !== undefined && (stream.flags & 3) !== 0) fs.fsyncSync(stream.nfd);
      }
      done(null);
    } catch (error) {
      done(error);
    }
  };
  const live = createLiveFiles(FS);
  const fixed = createFixedFiles(FS);
  // `rename` adds the renamed node to the remembered ones.
  const remember = FS.hashAddNode.bind(FS);
  FS.hashAddNode = (node) => {
    if (node.node_ops !== live.operations) remember(node);
  };

  let website: LiveFolder | null = null;

  function mount(type: FsType, root: string, path: string): void {
    FS.mkdirTree(path);
    FS.mount(type, { root }, path);
  }

  function showWebsite(folders: PhpFolders, isFixed: boolean): void {
    const isFirst = website === null;
    website ??= websiteFolder(FS, live, fixed, folders);
    website.show(folders.website, { isFixed });
    if (!isFirst) return;
    mount(website.type, folders.website, '/wordpress');
    for (const { folder, path } of folders.readOnly) mount(fixed.type, folder, path);
  }

  return {
    showPattern(folders) {
      showWebsite(folders, true);
      for (const folder of ['/private', '/database']) FS.mkdirTree(folder);
      for (const name of fs.readdirSync(folders.database)) {
        FS.writeFile(`/database/${name}`, fs.readFileSync(join(folders.database, name)));
      }
    },
    show(folders) {
      for (const folder of ['/private', '/database']) removeFiles(FS, folder);
      mount(live.folder().type, folders.database, '/database');
      mount(privateFolder(FS, live).type, folders.private, '/private');
      mount(temporaryFolder(live, temporary).type, join(folders.private, 'tmp'), '/tmp');
      showWebsite(folders, false);
    },
  };
}

/** Removes what a folder in memory contains. Does nothing without the folder. */
function removeFiles(FS: EmscriptenFs, folder: string): void {
  if (!FS.analyzePath(folder).exists) return;
  for (const name of FS.readdir(folder)) {
    if (name === '.' || name === '..') continue;
    const path = `${folder}/${name}`;
    if (FS.isDir(FS.stat(path).mode)) {
      removeFiles(FS, path);
      FS.rmdir(path);
    } else FS.unlink(path);
  }
}

/** The document root: the files of the website, and below them those of the core. */
function websiteFolder(
  FS: EmscriptenFs,
  live: LiveFiles,
  fixed: FixedFiles,
  { core }: PhpFolders,
): LiveFolder {
  const fromCore = new Set(
    fs
      .readdirSync(core, { withFileTypes: true })
      .filter((entry) => (entry.isDirectory() ? CORE_FOLDERS.has(entry.name) : isCoreFile(entry)))
      .map(({ name }) => name),
  );
  const folders = new Map<string, FsNode>();

  function coreNode(parent: FsNode, name: string): FsNode {
    const node = folders.get(name) ?? fixed.nodeAt(parent, name, join(core, name));
    if (CORE_FOLDERS.has(name)) folders.set(name, node);
    return node;
  }

  /** Refuses to change what is in the core alone. */
  function requireOwn(name: string, error: unknown): never {
    if (fromCore.has(name)) throw new FS.ErrnoError(ERRNO.EROFS);
    throw error;
  }

  const { operations } = live;
  return live.folder({
    lookup(parent, name) {
      if (CORE_FOLDERS.has(name)) return coreNode(parent, name);
      try {
        return operations.lookup(parent, name);
      } catch (error) {
        if (!fromCore.has(name)) throw error;
        return coreNode(parent, name);
      }
    },
    readdir: (node) => [
      ...new Set([...operations.readdir(node).filter((name) => !CORE_FOLDERS.has(name)), ...fromCore]),
    ],
    rename(node, folder, name) {
      if (CORE_FOLDERS.has(name)) throw new FS.ErrnoError(ERRNO.EROFS);
      operations.rename(node, folder, name);
    },
    unlink(parent, name) {
      try {
        operations.unlink(parent, name);
      } catch (error) {
        requireOwn(name, error);
      }
    },
    rmdir(parent, name) {
      if (CORE_FOLDERS.has(name)) throw new FS.ErrnoError(ERRNO.EROFS);
      operations.rmdir(parent, name);
    },
  });
}

function isCoreFile(entry: fs.Dirent): boolean {
  return entry.isFile() && !OWN_FILES.has(entry.name);
}
