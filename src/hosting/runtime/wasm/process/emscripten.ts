/** The parts of Emscripten's runtime that the file systems and locks of PHP use. Its names are in snake case. */

export interface FsNode {
  id: number;
  name: string;
  mode: number;
  parent: FsNode;
  node_ops: NodeOperations;
  stream_ops: StreamOperations;
}

export interface FsMount {
  opts: { root: string };
  mountpoint: string;
}

export interface FsStream {
  fd: number | null;
  node: FsNode;
  path: string;
  flags: number;
  position: number;
  /** Descriptor of the machine, of an open file of a folder of the machine. */
  nfd?: number;
  shared: { refcount?: number };
  stream_ops: StreamOperations;
}

/** What `stat` gives. */
export interface FsAttributes {
  dev: number;
  ino: number;
  mode: number;
  nlink: number;
  uid: number;
  gid: number;
  rdev: number;
  size: number;
  atime: Date;
  mtime: Date;
  ctime: Date;
  blksize: number;
  blocks: number;
}

/** A change by `chmod`, `utime` or `truncate`. Times are in milliseconds. */
export interface FsChange {
  mode?: number;
  atime?: number;
  mtime?: number;
  size?: number;
}

export interface NodeOperations {
  getattr(node: FsNode): FsAttributes;
  setattr(node: FsNode, change: FsChange): void;
  lookup(parent: FsNode, name: string): FsNode;
  mknod(parent: FsNode, name: string, mode: number): FsNode;
  rename(node: FsNode, folder: FsNode, name: string): void;
  unlink(parent: FsNode, name: string): void;
  rmdir(parent: FsNode, name: string): void;
  readdir(node: FsNode): string[];
  symlink(parent: FsNode, name: string, target: string): FsNode;
  readlink(node: FsNode): string;
}

export interface StreamOperations {
  open(stream: FsStream): void;
  close(stream: FsStream): void;
  getattr(stream: FsStream): FsAttributes;
  setattr(stream: FsStream, change: FsChange): void;
  write(stream: FsStream, buffer: unknown, offset: number, length: number, ...others: unknown[]): number;
}

export interface FsType {
  mount(mount: FsMount): FsNode;
}

/** Emscripten's own file system over folders of the machine. */
export interface NodeFs extends FsType {
  stream_ops: StreamOperations;
  convertNodeCode(error: { code?: string }): number;
  tryFSOperation<Result>(operation: () => Result): Result;
  syncfs?(mount: FsMount, populate: boolean, done: (error: unknown) => void): void;
}

interface Operations {
  node: NodeOperations;
  stream: StreamOperations;
}

/** Emscripten's file system in memory. */
export interface MemoryFs extends FsType {
  /** What its nodes do, by their kind. Some kinds lack operations. */
  ops_table: Record<'dir' | 'file' | 'link' | 'chrdev', Operations>;
}

export interface EmscriptenFs {
  ErrnoError: new (errno: number) => Error & { errno: number };
  FSNode: new (parent: FsNode | null, name: string, mode: number, rdev: number) => FsNode;
  filesystems: { MEMFS: MemoryFs; NODEFS: NodeFs };
  streams: (FsStream | null | undefined)[];
  hashAddNode(node: FsNode): void;
  createNode(parent: FsNode | null, name: string, mode: number): FsNode;
  mount(type: FsType, options: { root: string }, path: string): FsNode;
  mkdirTree(path: string): void;
  stat(path: string): { mode: number };
  readdir(path: string): string[];
  analyzePath(path: string): { exists: boolean };
  writeFile(path: string, content: Uint8Array): void;
  unlink(path: string): void;
  rmdir(path: string): void;
  /** Times in milliseconds. */
  utime(path: string, accessed: number, modified: number): void;
  isFile(mode: number): boolean;
  isDir(mode: number): boolean;
  isLink(mode: number): boolean;
  close(stream: FsStream): void;
}

/** The running program. */
export interface EmscriptenRuntime {
  FS: EmscriptenFs;
  HEAPU8: Uint8Array;
}

/** Numbers of errors in WASI's order, which Emscripten uses. */
export const ERRNO = {
  EACCES: 2,
  EAGAIN: 6,
  EBADF: 8,
  EBUSY: 10,
  EDQUOT: 19,
  EEXIST: 20,
  EFBIG: 22,
  EINVAL: 28,
  EIO: 29,
  EISDIR: 31,
  ELOOP: 32,
  EMFILE: 33,
  ENAMETOOLONG: 37,
  ENFILE: 41,
  ENOENT: 44,
  ENOLCK: 46,
  ENOSPC: 51,
  ENOTDIR: 54,
  ENOTEMPTY: 55,
  EPERM: 63,
  EPIPE: 64,
  EROFS: 69,
  EXDEV: 75,
} as const;

const NUMBERS = new Map<string | undefined, number>([
  ...Object.entries(ERRNO),
  ['ERR_ACCESS_DENIED', ERRNO.EACCES],
]);

/** The number of one of Node's errors. */
export function errnoOf({ code }: { code?: string }): number {
  return NUMBERS.get(code) ?? ERRNO.EIO;
}
