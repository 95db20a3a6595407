import fs, { constants } from 'node:fs';
import { join } from 'node:path';
import {
  type EmscriptenFs,
  ERRNO,
  type FsAttributes,
  type FsChange,
  type FsNode,
  type FsStream,
  type FsType,
  type NodeOperations,
  type StreamOperations,
} from './emscripten.ts';
import { openExact } from './exact-file.ts';

const IS_LINUX = process.platform === 'linux';
/** Modes of files: nobody but the platform's user writes, whatever PHP asks for. */
const MODE = 0o755;
const ACCESS_MODE = 3;
const APPEND = 1024;

/**
 * A folder of the machine that others change too: other threads, SFTP and the platform. No node is remembered, because a folder may
 * have been replaced by a symbolic link since. Links are resolved by PHP's own paths, so none leads out, and PHP cannot make any.
 */
export function createLiveFiles(FS: EmscriptenFs): LiveFiles {
  const { NODEFS } = FS.filesystems;
  const attempt = NODEFS.tryFSOperation.bind(NODEFS);
  const roots = new WeakMap<FsNode, Root>();

  function placeOf(node: FsNode): { path: string; isFixed: boolean } {
    const names: string[] = [];
    let at = node;
    for (; at.parent !== at; at = at.parent) names.push(at.name);
    const root = roots.get(at);
    if (root === undefined) throw new FS.ErrnoError(ERRNO.EIO);
    return { path: join(root.folder, ...names.reverse()), isFixed: root.isFixed };
  }

  const pathOf = (node: FsNode): string => placeOf(node).path;

  /** The path of a node that PHP may change. */
  function ownPathOf(node: FsNode): string {
    const { path, isFixed } = placeOf(node);
    if (isFixed) throw new FS.ErrnoError(ERRNO.EROFS);
    return path;
  }

  /** A path that may be changed: no folder of it has become a link. */
  function changeable(parent: FsNode, name: string): string {
    const folder = ownPathOf(parent);
    return attempt(() => {
      if (fs.realpathSync.native(folder) !== folder) throw new FS.ErrnoError(ERRNO.ENOENT);
      return join(folder, name);
    });
  }

  function nodeFor(parent: FsNode | null, name: string, mode: number): FsNode {
    if (!FS.isDir(mode) && !FS.isFile(mode) && !FS.isLink(mode)) throw new FS.ErrnoError(ERRNO.ENOENT);
    const node = new FS.FSNode(parent, name, mode, 0);
    node.node_ops = operations;
    node.stream_ops = streams;
    return node;
  }

  const operations: NodeOperations = {
    getattr: (node) => attempt(() => attributes(fs.lstatSync(pathOf(node)))),
    setattr(node, change) {
      attempt(() => {
        const path = ownPathOf(node);
        const fd = openExact(path, change.size === undefined ? constants.O_RDONLY : constants.O_RDWR);
        try {
          applyChange(fd, path, change);
        } finally {
          fs.closeSync(fd);
        }
      });
      if (change.mode !== undefined) node.mode = change.mode;
    },
    lookup: (parent, name) =>
      nodeFor(
        parent,
        name,
        attempt(() => fs.lstatSync(join(pathOf(parent), name)).mode),
      ),
    mknod(parent, name, mode) {
      const path = changeable(parent, name);
      const node = nodeFor(parent, name, mode);
      attempt(() => {
        if (FS.isDir(mode)) fs.mkdirSync(path, mode & MODE);
        else
          fs.closeSync(
            openExact(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, mode & MODE),
          );
      });
      return node;
    },
    rename(node, folder, name) {
      if (node.node_ops !== operations) throw new FS.ErrnoError(ERRNO.EROFS);
      const from = changeable(node.parent, node.name);
      const to = changeable(folder, name);
      attempt(() => fs.renameSync(from, to));
      node.name = name;
    },
    unlink(parent, name) {
      const path = changeable(parent, name);
      attempt(() => fs.unlinkSync(path));
    },
    rmdir(parent, name) {
      const path = changeable(parent, name);
      attempt(() => fs.rmdirSync(path));
    },
    readdir: (node) => ['.', '..', ...attempt(() => fs.readdirSync(pathOf(node)))],
    readlink: (node) => attempt(() => fs.readlinkSync(pathOf(node))),
    symlink() {
      throw new FS.ErrnoError(ERRNO.EPERM);
    },
  };

  const streams: StreamOperations = {
    ...NODEFS.stream_ops,
    open(stream) {
      stream.shared.refcount = 1;
      // A folder is read by its path.
      if (FS.isDir(stream.node.mode)) return;
      const { flags, node } = stream;
      const append = flags & APPEND ? constants.O_APPEND : 0;
      const access = flags & ACCESS_MODE;
      const path = access === constants.O_RDONLY ? pathOf(node) : ownPathOf(node);
      stream.nfd = attempt(() => openExact(path, access | append));
    },
    // The machine's inode, by which SQLite and the locks know a file.
    getattr: (stream) =>
      stream.nfd === undefined
        ? operations.getattr(stream.node)
        : attempt(() => attributes(fs.fstatSync(descriptorOf(stream)))),
    setattr(stream, change) {
      attempt(() => applyChange(descriptorOf(stream), pathOf(stream.node), change));
    },
  };

  function descriptorOf({ nfd }: FsStream): number {
    if (nfd === undefined) throw new FS.ErrnoError(ERRNO.EBADF);
    return nfd;
  }

  return {
    operations,
    streams,
    pathOf,
    folder(overrides = {}) {
      let node: FsNode | null = null;
      const show = (folder: string, { isFixed = false } = {}): FsNode => {
        const real = fs.realpathSync.native(folder);
        if (node === null) {
          node = nodeFor(null, '/', fs.lstatSync(real).mode);
          node.node_ops = { ...operations, ...overrides };
        }
        roots.set(node, { folder: real, isFixed });
        return node;
      };
      return { show, type: { mount: ({ opts: { root } }) => node ?? show(root) } };
    },
  };
}

export interface LiveFiles {
  operations: NodeOperations;
  streams: StreamOperations;
  /** Path of the machine of a live node. */
  pathOf(node: FsNode): string;
  /** Makes a file system; `overrides` change what the uppermost folder does. */
  folder(overrides?: Partial<NodeOperations>): LiveFolder;
}

/** A file system that shows a folder of the machine. */
export interface LiveFolder {
  type: FsType;
  /** Shows another folder in its place. `isFixed`: PHP cannot change it. No file of the former one may be open. */
  show(folder: string, options?: { isFixed?: boolean }): void;
}

interface Root {
  folder: string;
  isFixed: boolean;
}

/** The attributes as Emscripten wants them, with the machine's inode. */
export function attributes(stats: fs.Stats): FsAttributes {
  const { dev, ino, mode, nlink, rdev, size, atime, mtime, ctime, blksize, blocks } = stats;
  return { dev, ino, mode, nlink, uid: 0, gid: 0, rdev, size, atime, mtime, ctime, blksize, blocks };
}

/** Changes an open file. Node's permissions allow `chmod` and `utimes` for paths only, so the path of the descriptor is used. */
function applyChange(fd: number, path: string, { mode, atime, mtime, size }: FsChange): void {
  const at = IS_LINUX ? `/proc/self/fd/${fd}` : path;
  if (mode !== undefined) fs.chmodSync(at, mode & MODE);
  if (atime !== undefined || mtime !== undefined) {
    const present = fs.fstatSync(fd);
    fs.utimesSync(at, new Date(atime ?? present.atime), new Date(mtime ?? present.mtime));
  }
  if (size !== undefined) fs.ftruncateSync(fd, size);
}
