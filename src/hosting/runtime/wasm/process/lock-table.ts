/** Rows of a lock table: file locks of several threads in memory that they share. */
const ROWS = 512;
const FIELDS = 8;
/** Mutex, and a counter of changes. */
const HEAD = 2;
const HEAD_BYTES = 8;

export const RANGE = 0n;
export const WHOLE = 1n;
export const SHARED = 1n;
export const EXCLUSIVE = 2n;

export interface LockRow {
  owner: bigint;
  /** Descriptor of the machine that holds a lock of a whole file. */
  fd: bigint;
  kind: typeof RANGE | typeof WHOLE;
  type: typeof SHARED | typeof EXCLUSIVE;
  /** Device and inode as one number. */
  file: bigint;
  start: bigint;
  /** Exclusive. */
  end: bigint;
}

export function newLockTable(): SharedArrayBuffer {
  return new SharedArrayBuffer(HEAD_BYTES + ROWS * FIELDS * 8);
}

/** Access of one thread to the table. */
export class LockTable {
  readonly #head: Int32Array;
  readonly #fields: BigInt64Array;
  readonly #id: number;

  /** @param id number of the thread; never used again after its end */
  constructor(memory: SharedArrayBuffer, id: number) {
    this.#head = new Int32Array(memory, 0, HEAD);
    this.#fields = new BigInt64Array(memory, HEAD_BYTES);
    this.#id = id;
  }

  /** Runs `work` while no other thread uses the table. */
  exclusively<Result>(work: () => Result): Result {
    while (Atomics.compareExchange(this.#head, 0, 0, this.#id) !== 0) {
      Atomics.wait(this.#head, 0, Atomics.load(this.#head, 0), 5);
    }
    try {
      return work();
    } finally {
      Atomics.store(this.#head, 0, 0);
      Atomics.notify(this.#head, 0, 1);
    }
  }

  get changes(): number {
    return Atomics.load(this.#head, 1);
  }

  changed(): void {
    Atomics.add(this.#head, 1, 1);
    Atomics.notify(this.#head, 1);
  }

  /** Waits until the locks have changed since `changes`, at most `ms`. */
  waitForChange(changes: number, ms: number): void {
    Atomics.wait(this.#head, 1, changes, ms);
  }

  /** The used rows with their places. */
  rows(): { at: number; row: LockRow }[] {
    const found: { at: number; row: LockRow }[] = [];
    for (let at = 0; at < ROWS; at++) {
      const [used = 0n, owner = 0n, fd = 0n, kind, type, file = 0n, start = 0n, end = 0n] =
        this.#fields.subarray(at * FIELDS, (at + 1) * FIELDS);
      if (used === 0n) continue;
      const row: LockRow = {
        owner,
        fd,
        kind: kind === WHOLE ? WHOLE : RANGE,
        type: type === EXCLUSIVE ? EXCLUSIVE : SHARED,
        file,
        start,
        end,
      };
      found.push({ at, row });
    }
    return found;
  }

  clear(at: number): void {
    this.#fields[at * FIELDS] = 0n;
  }

  /** Returns false if the table is full. */
  add({ owner, fd, kind, type, file, start, end }: LockRow): boolean {
    for (let at = 0; at < ROWS; at++) {
      if (this.#fields[at * FIELDS] !== 0n) continue;
      this.#fields.set([1n, owner, fd, kind, type, file, start, end], at * FIELDS);
      return true;
    }
    return false;
  }

  /** Removes the locks of a thread that has ended, perhaps while it used the table. Another thread calls it. */
  releaseDead(id: number): void {
    Atomics.compareExchange(this.#head, 0, id, 0);
    const owner = BigInt(id);
    this.exclusively(() => {
      for (const { at, row } of this.rows()) if (row.owner === owner) this.clear(at);
    });
    this.changed();
  }
}
