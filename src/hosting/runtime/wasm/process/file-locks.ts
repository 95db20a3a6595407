import fs from 'node:fs';
import { EXCLUSIVE, type LockRow, type LockTable, RANGE, SHARED, WHOLE } from './lock-table.ts';

/** The longest wait for a lock. A request ends before. */
const LONGEST_WAIT_MS = 30_000;
const END_OF_FILE = 0x7fff_ffff_ffff_ffffn;

export interface ByteRange {
  start: bigint;
  /** 0: until the end of the file. */
  length: bigint;
}

export type LockType = typeof SHARED | typeof EXCLUSIVE;

/** A lock of someone else that is in the way. */
export interface Conflict extends ByteRange {
  type: LockType;
  owner: number;
}

/** `done`: locked. `busy`: someone else has it. `full`: too many locks. */
export type LockOutcome = 'done' | 'busy' | 'full';

/**
 * Locks of one thread on files of the machine, with the rules of POSIX (`fcntl`) and of `flock`. The kernel's own locks do not separate
 * threads of a process.
 */
export class FileLocks {
  readonly #table: LockTable;
  readonly #owner: bigint;

  constructor(table: LockTable, owner: number) {
    this.#table = table;
    this.#owner = BigInt(owner);
  }

  /** Locks a range, which replaces own locks in it. */
  lockRange(fd: number, range: ByteRange, type: LockType, wait: boolean): LockOutcome {
    const { file, start, end } = this.#place(fd, range);
    const outcome = this.#attempt(wait, () => {
      if (this.#conflict(file, RANGE, 0n, type, start, end) !== undefined) return 'busy';
      this.#carve(file, start, end);
      return this.#add({ owner: this.#owner, fd: BigInt(fd), kind: RANGE, type, file, start, end });
    });
    // A weaker lock than before may let others go on.
    if (outcome === 'done' && type === SHARED) this.#table.changed();
    return outcome;
  }

  unlockRange(fd: number, range: ByteRange): void {
    const { file, start, end } = this.#place(fd, range);
    this.#table.exclusively(() => this.#carve(file, start, end));
    this.#table.changed();
  }

  /** The lock that keeps this thread from locking a range. */
  conflictOf(fd: number, range: ByteRange, type: LockType): Conflict | undefined {
    const { file, start, end } = this.#place(fd, range);
    const row = this.#table.exclusively(() => this.#conflict(file, RANGE, 0n, type, start, end));
    return (
      row && {
        type: row.type,
        owner: Number(row.owner),
        start: row.start,
        length: row.end === END_OF_FILE ? 0n : row.end - row.start,
      }
    );
  }

  /** Locks a whole file for an open descriptor, in place of its present lock. */
  lockWhole(fd: number, type: LockType, wait: boolean): LockOutcome {
    const file = fileOf(fd);
    const own = BigInt(fd);
    return this.#attempt(wait, () => {
      if (this.#conflict(file, WHOLE, own, type, 0n, END_OF_FILE) !== undefined) return 'busy';
      this.#clear((row) => row.kind === WHOLE && row.fd === own && row.file === file);
      return this.#add({ owner: this.#owner, fd: own, kind: WHOLE, type, file, start: 0n, end: END_OF_FILE });
    });
  }

  unlockWhole(fd: number): void {
    const file = fileOf(fd);
    this.#release((row) => row.kind === WHOLE && row.fd === BigInt(fd) && row.file === file);
  }

  /** Ends locks when a descriptor is closed: by POSIX, all range locks of the process on that file. Call it before the close. */
  closing(fd: number): void {
    const file = fileOf(fd);
    this.#release((row) => row.file === file && (row.kind === RANGE || row.fd === BigInt(fd)));
  }

  releaseAll(): void {
    this.#release(() => true);
  }

  #place(fd: number, { start, length }: ByteRange): { file: bigint; start: bigint; end: bigint } {
    return { file: fileOf(fd), start, end: length === 0n ? END_OF_FILE : start + length };
  }

  #conflict(
    file: bigint,
    kind: LockRow['kind'],
    fd: bigint,
    type: LockType,
    start: bigint,
    end: bigint,
  ): LockRow | undefined {
    const isOwn = (row: LockRow) => row.owner === this.#owner && (kind === RANGE || row.fd === fd);
    const isInTheWay = (row: LockRow) =>
      row.file === file &&
      row.kind === kind &&
      (type === EXCLUSIVE || row.type === EXCLUSIVE) &&
      row.start < end &&
      start < row.end &&
      !isOwn(row);
    return this.#table.rows().find(({ row }) => isInTheWay(row))?.row;
  }

  /** Removes own locks from a range and keeps what reaches beyond it. */
  #carve(file: bigint, start: bigint, end: bigint): void {
    for (const { at, row } of this.#table.rows()) {
      if (row.owner !== this.#owner || row.kind !== RANGE || row.file !== file) continue;
      if (row.start >= end || row.end <= start) continue;
      this.#table.clear(at);
      if (row.start < start) this.#table.add({ ...row, end: start });
      if (row.end > end) this.#table.add({ ...row, start: end });
    }
  }

  #add(row: LockRow): LockOutcome {
    return this.#table.add(row) ? 'done' : 'full';
  }

  #attempt(wait: boolean, lock: () => LockOutcome): LockOutcome {
    const until = performance.now() + LONGEST_WAIT_MS;
    for (;;) {
      const seen = this.#table.changes;
      const outcome = this.#table.exclusively(lock);
      if (outcome !== 'busy' || !wait || performance.now() > until) return outcome;
      this.#table.waitForChange(seen, 50);
    }
  }

  #release(isReleased: (row: LockRow) => boolean): void {
    if (this.#table.exclusively(() => this.#clear(isReleased))) this.#table.changed();
  }

  #clear(isCleared: (row: LockRow) => boolean): boolean {
    let any = false;
    for (const { at, row } of this.#table.rows()) {
      if (row.owner !== this.#owner || !isCleared(row)) continue;
      this.#table.clear(at);
      any = true;
    }
    return any;
  }
}

function fileOf(fd: number): bigint {
  const { ino, dev } = fs.fstatSync(fd, { bigint: true });
  return BigInt.asIntN(64, ino ^ (dev << 48n));
}
