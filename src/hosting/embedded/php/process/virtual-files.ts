import fs from 'node:fs';
import { join } from 'node:path';
import type { PhpFolders } from '../process-protocol.ts';
import { type EmscriptenFs, ERRNO, errnoOf, type FsNode, type FsType } from './emscripten.ts';
import { createFixedFiles, type FixedFiles } from './fixed-files.ts';
import { createLiveFiles, type LiveFiles } from './live-files.ts';

/** Folders of WordPress that come from the core alone. */
const CORE_FOLDERS = new Set(['wp-admin', 'wp-includes']);
/** Files that only a website has. Debian's core has one. */
const OWN_FILES = new Set(['wp-config.php', '.htaccess']);

/** Prepares the file systems. Returns a function that shows the folders of a website; before that PHP sees none of the machine. */
export function createVirtualFiles(FS: EmscriptenFs): (folders: PhpFolders) => void {
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

  function mount(type: FsType, root: string, path: string): void {
    FS.mkdirTree(path);
    FS.mount(type, { root }, path);
  }

  return (folders) => {
    mount(live.type(), folders.private, '/private');
    mount(live.type(), join(folders.private, 'tmp'), '/tmp');
    mount(websiteType(FS, live, fixed, folders), folders.website, '/wordpress');
    for (const { folder, path } of folders.readOnly) mount(fixed.type, folder, path);
  };
}

/** The document root: the files of the website, and below them those of the core. */
function websiteType(FS: EmscriptenFs, live: LiveFiles, fixed: FixedFiles, { core }: PhpFolders): FsType {
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
  return live.type({
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
