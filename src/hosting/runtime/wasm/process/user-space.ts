import { type EmscriptenFs, ERRNO } from './emscripten.ts';
import type { FileLocks, LockOutcome, LockType } from './file-locks.ts';
import { EXCLUSIVE, SHARED } from './lock-table.ts';

/** A view of the program's memory that stays right when the memory grows. */
interface Memory {
  get(index: number): number;
  set(index: number, value: number): void;
}

/** What the program hands over to whoever implements locks for it. */
export interface UserSpaceContext {
  constants: Record<
    | 'F_GETLK'
    | 'F_SETLK'
    | 'F_SETLKW'
    | 'F_RDLCK'
    | 'F_WRLCK'
    | 'F_UNLCK'
    | 'F_SETFL'
    | 'LOCK_SH'
    | 'LOCK_EX'
    | 'LOCK_NB'
    | 'LOCK_UN'
    | 'SEEK_SET'
    | 'SEEK_CUR',
    number
  >;
  memory: { HEAP16: Memory; HEAP32: Memory; HEAPU32: Memory };
  wasmImports: {
    builtin_fd_close(fd: number): number;
    builtin_fcntl64(fd: number, command: number, parameters: number): number;
  };
  FS: EmscriptenFs;
}

/** The system calls that the program makes here. */
export interface UserSpace {
  fcntl64(fd: number, command: number, parameters: number): number;
  flock(fd: number, operation: number): number;
  fd_close(fd: number): number;
  js_release_file_locks(): void;
}

/** Places in musl's `struct flock` of 32-bit systems, in bytes. */
const FLOCK = { type: 0, whence: 2, start: 8, length: 16, pid: 24 } as const;
/** Both may change with `F_SETFL`. */
const SETTABLE_FLAGS = 1024 | 2048;

/** Connects `fcntl`, `flock` and `close` of PHP with the locks that its threads share. */
export function bindLocks(
  locks: FileLocks,
  { constants, memory, wasmImports, FS }: UserSpaceContext,
): UserSpace {
  const { HEAP16, HEAP32, HEAPU32 } = memory;

  function descriptorOf(fd: number): number | undefined {
    return FS.streams[fd]?.nfd;
  }

  function longAt(address: number): bigint {
    return (BigInt(HEAP32.get((address + 4) >> 2)) << 32n) | BigInt(HEAPU32.get(address >> 2));
  }

  function setLong(address: number, value: bigint): void {
    HEAPU32.set(address >> 2, Number(value & 0xffff_ffffn));
    HEAP32.set((address + 4) >> 2, Number(BigInt.asIntN(32, value >> 32n)));
  }

  function rangeAt(fd: number, address: number): { start: bigint; length: bigint } | undefined {
    // The file's size is unknown here, and neither PHP nor SQLite counts from the end.
    const whence = HEAP16.get((address + FLOCK.whence) >> 1);
    const stream = FS.streams[fd];
    if (whence !== constants.SEEK_SET && whence !== constants.SEEK_CUR) return undefined;
    const from = whence === constants.SEEK_CUR ? BigInt(stream?.position ?? 0) : 0n;
    const start = from + longAt(address + FLOCK.start);
    const length = longAt(address + FLOCK.length);
    return length < 0n ? { start: start + length, length: -length } : { start, length };
  }

  function lockTypeAt(address: number): LockType | 'unlock' | undefined {
    const type = HEAP16.get((address + FLOCK.type) >> 1);
    if (type === constants.F_UNLCK) return 'unlock';
    if (type === constants.F_RDLCK) return SHARED;
    return type === constants.F_WRLCK ? EXCLUSIVE : undefined;
  }

  function fcntlLock(fd: number, nfd: number, command: number, address: number): number {
    const range = rangeAt(fd, address);
    const type = lockTypeAt(address);
    if (range === undefined || range.start < 0n || type === undefined) return -ERRNO.EINVAL;
    if (command === constants.F_GETLK) {
      if (type === 'unlock') return -ERRNO.EINVAL;
      const conflict = locks.conflictOf(nfd, range, type);
      if (conflict === undefined) {
        HEAP16.set((address + FLOCK.type) >> 1, constants.F_UNLCK);
        return 0;
      }
      HEAP16.set(
        (address + FLOCK.type) >> 1,
        conflict.type === SHARED ? constants.F_RDLCK : constants.F_WRLCK,
      );
      HEAP16.set((address + FLOCK.whence) >> 1, constants.SEEK_SET);
      setLong(address + FLOCK.start, conflict.start);
      setLong(address + FLOCK.length, conflict.length);
      HEAP32.set((address + FLOCK.pid) >> 2, conflict.owner);
      return 0;
    }
    if (type === 'unlock') {
      locks.unlockRange(nfd, range);
      return 0;
    }
    return -errnoOfOutcome(locks.lockRange(nfd, range, type, command === constants.F_SETLKW));
  }

  return {
    fcntl64(fd, command, parameters) {
      const { F_GETLK, F_SETLK, F_SETLKW, F_SETFL } = constants;
      const nfd = descriptorOf(fd);
      const stream = FS.streams[fd];
      if (command === F_SETFL && stream) {
        // Emscripten's own can add flags and not remove any, so that a stream would stay non-blocking.
        stream.flags = (stream.flags & ~SETTABLE_FLAGS) | (HEAP32.get(parameters >> 2) & SETTABLE_FLAGS);
        return 0;
      }
      if (nfd === undefined || (command !== F_GETLK && command !== F_SETLK && command !== F_SETLKW)) {
        return wasmImports.builtin_fcntl64(fd, command, parameters);
      }
      return fcntlLock(fd, nfd, command, HEAPU32.get(parameters >> 2));
    },

    flock(fd, operation) {
      const nfd = descriptorOf(fd);
      // A file in memory belongs to one thread.
      if (nfd === undefined) return FS.streams[fd] ? 0 : -ERRNO.EBADF;
      const { LOCK_SH, LOCK_EX, LOCK_NB, LOCK_UN } = constants;
      if ((operation & LOCK_UN) !== 0) {
        locks.unlockWhole(nfd);
        return 0;
      }
      const type = (operation & LOCK_EX) !== 0 ? EXCLUSIVE : (operation & LOCK_SH) !== 0 ? SHARED : undefined;
      if (type === undefined) return -ERRNO.EINVAL;
      return -errnoOfOutcome(locks.lockWhole(nfd, type, (operation & LOCK_NB) === 0));
    },

    fd_close(fd) {
      const stream = FS.streams[fd];
      if (stream?.nfd !== undefined && stream.shared.refcount === 1) locks.closing(stream.nfd);
      return wasmImports.builtin_fd_close(fd);
    },

    js_release_file_locks: () => locks.releaseAll(),
  };
}

function errnoOfOutcome(outcome: LockOutcome): number {
  if (outcome === 'done') return 0;
  return outcome === 'busy' ? ERRNO.EAGAIN : ERRNO.ENOLCK;
}
