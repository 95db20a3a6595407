import { type EmscriptenFs, ERRNO, type NodeOperations, type StreamOperations } from './emscripten.ts';

/** The files in memory, which PHP may change until {@link close}. */
export interface ReadOnlyMemory {
  /** From now on, only `change` changes them. */
  close(): void;
  change<Result>(work: () => Result): Result;
}

/**
 * Everything in memory belongs to the platform: PHP's settings, the file before each script, the folders on which others are mounted. It
 * lasts as long as the thread. What PHP wrote there would survive the cleaning of a website's files, and run before the platform's scripts.
 */
export function createReadOnlyMemory(FS: EmscriptenFs): ReadOnlyMemory {
  let isClosed = false;
  let isChanging = false;

  function guarded<Parameters extends unknown[], Result>(operation: (...given: Parameters) => Result) {
    return (...given: Parameters): Result => {
      if (isClosed && !isChanging) throw new FS.ErrnoError(ERRNO.EROFS);
      return operation(...given);
    };
  }

  function guardNode(operations: NodeOperations): void {
    const { setattr, mknod, rename, unlink, rmdir, symlink } = operations;
    Object.assign(operations, {
      setattr: guarded(setattr),
      mknod: guarded(mknod),
      rename: guarded(rename),
      unlink: guarded(unlink),
      rmdir: guarded(rmdir),
      symlink: guarded(symlink),
    });
  }

  function guardStream(operations: StreamOperations): void {
    Object.assign(operations, { write: guarded(operations.write) });
  }

  // Present and future nodes share these.
  const { dir, file, link, chrdev } = FS.filesystems.MEMFS.ops_table;
  for (const { node } of [dir, file, link, chrdev]) guardNode(node);
  // PHP's output and the devices stay writable.
  guardStream(file.stream);

  return {
    close() {
      isClosed = true;
    },
    change(work) {
      isChanging = true;
      try {
        return work();
      } finally {
        isChanging = false;
      }
    },
  };
}
