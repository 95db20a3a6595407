import fs, { constants } from 'node:fs';
import { join } from 'node:path';
import {
  type EmscriptenFs,
  ERRNO,
  type FsAttributes,
  type FsNode,
  type FsType,
  type NodeOperations,
  type StreamOperations,
} from './emscripten.ts';
import { attributes } from './live-files.ts';

interface Known {
  path: string;
  attributes?: FsAttributes;
  /** Names that are not there, which WordPress asks for again and again. */
  missing: Set<string>;
}

const TRUNCATE = 512;
const WRITES = 3;

/** A folder of the machine that PHP only reads and that never changes, such as WordPress core. What was found once is remembered. */
export function createFixedFiles(FS: EmscriptenFs): FixedFiles {
  const { NODEFS } = FS.filesystems;
  const attempt = NODEFS.tryFSOperation.bind(NODEFS);
  const known = new WeakMap<FsNode, Known>();
  const refuse = (): never => {
    throw new FS.ErrnoError(ERRNO.EROFS);
  };

  function knownOf(node: FsNode): Known {
    const found = known.get(node);
    if (found === undefined) throw new FS.ErrnoError(ERRNO.EIO);
    return found;
  }

  function provide(node: FsNode, path: string): FsNode {
    node.node_ops = operations;
    node.stream_ops = streams;
    known.set(node, { path, missing: new Set() });
    return node;
  }

  function modeAt(path: string): number {
    const { mode } = attempt(() => fs.lstatSync(path));
    if (!FS.isDir(mode) && !FS.isFile(mode)) throw new FS.ErrnoError(ERRNO.ENOENT);
    return mode & ~0o222;
  }

  const operations: NodeOperations = {
    getattr(node) {
      const it = knownOf(node);
      it.attributes ??= { ...attempt(() => attributes(fs.lstatSync(it.path))), mode: node.mode };
      return it.attributes;
    },
    lookup(parent, name) {
      const { path: folder, missing } = knownOf(parent);
      if (missing.has(name)) throw new FS.ErrnoError(ERRNO.ENOENT);
      const path = join(folder, name);
      let mode: number;
      try {
        mode = modeAt(path);
      } catch (error) {
        if (error instanceof FS.ErrnoError && error.errno === ERRNO.ENOENT) missing.add(name);
        throw error;
      }
      return provide(FS.createNode(parent, name, mode), path);
    },
    readdir: (node) => ['.', '..', ...attempt(() => fs.readdirSync(knownOf(node).path))],
    readlink: refuse,
    setattr: refuse,
    mknod: refuse,
    rename: refuse,
    unlink: refuse,
    rmdir: refuse,
    symlink: refuse,
  };

  const streams: StreamOperations = {
    ...NODEFS.stream_ops,
    open(stream) {
      if ((stream.flags & WRITES) !== 0 || (stream.flags & TRUNCATE) !== 0) refuse();
      stream.shared.refcount = 1;
      if (FS.isDir(stream.node.mode)) return;
      stream.nfd = attempt(() =>
        fs.openSync(knownOf(stream.node).path, constants.O_RDONLY | constants.O_NOFOLLOW),
      );
    },
    getattr: (stream) => operations.getattr(stream.node),
    setattr: refuse,
    write: refuse,
  };

  return {
    type: {
      mount: ({ opts: { root } }) => {
        const real = fs.realpathSync.native(root);
        return provide(new FS.FSNode(null, '/', modeAt(real), 0), real);
      },
    },
    nodeAt: (parent, name, path) => provide(new FS.FSNode(parent, name, modeAt(path), 0), path),
  };
}

export interface FixedFiles {
  type: FsType;
  /** A node of the file or folder at `path` that appears as `name` in another file system. */
  nodeAt(parent: FsNode, name: string, path: string): FsNode;
}
