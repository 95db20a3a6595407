import { AsyncLocalStorage } from 'node:async_hooks';
import { sql } from 'kysely';
import type { Transaction, UnitHooks } from './database.ts';

/**
 * How long a transaction stays open for the rest of its unit. On SQLite it holds the only writer, so a unit that waits for
 * something slow commits what it has.
 */
const HELD_MS = 100;
const RETRIES = 4;

/** Runs `work` in a transaction of the database, as Database.write does. */
type Write = <Result>(work: (transaction: Transaction) => Promise<Result>) => Promise<Result>;

interface Transactions {
  write: Write;
  /** Runs `work` exactly once. */
  writeOnce: Write;
  /** Whether an error means that the transaction did nothing and can be repeated. */
  isConflict(error: unknown): boolean;
}

/** Makes several transactions of one request a single one, without the services knowing. */
export interface UnitsOfWork {
  /** As Database.write. Inside a unit, `work` joins the unit's transaction. */
  write: Write;
  /** See Database.together. */
  together<Result>(hooks: UnitHooks<Result>, work: () => Promise<Result>): Promise<Result>;
  /**
   * Reads in the open transaction of the current unit, to see its changes, and keeps it open meanwhile. Without one, reads by
   * `otherwise`.
   */
  read<Result>(
    inside: (transaction: Transaction) => Promise<Result>,
    otherwise: () => Promise<Result>,
  ): Promise<Result>;
  /** Whether the caller is part of a unit. */
  isInUnit(): boolean;
  /** Calls `work` outside of any unit. */
  outside<Result>(work: () => Result): Result;
}

export function createUnitsOfWork(transactions: Transactions): UnitsOfWork {
  const current = new AsyncLocalStorage<UnitOfWork | undefined>();
  const outside = <Result>(work: () => Result): Result => current.run(undefined, work);

  return {
    outside,
    isInUnit: () => current.getStore() !== undefined,
    read(inside, otherwise) {
      const unit = current.getStore();
      return unit === undefined ? otherwise() : unit.read(inside, otherwise);
    },
    write(work) {
      const unit = current.getStore();
      return unit === undefined || unit.hasEnded ? outside(() => transactions.write(work)) : unit.join(work);
    },
    async together(hooks, work) {
      for (let tried = 1; ; tried++) {
        const unit: UnitOfWork = new UnitOfWork(
          {
            write: (later) => outside(() => transactions.write(later)),
            writeOnce: (once) => outside(() => transactions.writeOnce(once)),
          },
          (transaction) => current.run(unit, () => hooks.begin(transaction)),
        );
        try {
          const result = await current.run(unit, work);
          await unit.finish((transaction) => hooks.end(transaction, result));
          return result;
        } catch (error) {
          const isConflict = transactions.isConflict(error);
          if (await unit.undo(error)) await outside(() => transactions.write(hooks.interrupted));
          else if (isConflict && tried <= RETRIES) continue;
          throw error;
        }
      }
    },
  };
}

/** One transaction, begun at the first write of its work and committed after the last. */
class UnitOfWork {
  /** Set while the transaction is open. */
  transaction: Transaction | undefined;
  hasEnded = false;

  readonly #transactions: Pick<Transactions, 'write' | 'writeOnce'>;
  readonly #begin: (transaction: Transaction) => Promise<void>;
  readonly #released = Promise.withResolvers<void>();
  #opening: Promise<void> | undefined;
  #committed: Promise<void> | undefined;
  #failure: { error: unknown } | undefined;
  /** Writes of one unit run one after the other, as they share a connection. */
  #last: Promise<unknown> = Promise.resolve();
  #committedEarly = false;
  #committingEarly: Promise<void> | undefined;
  readonly #reading = new Set<Promise<unknown>>();

  constructor(
    transactions: Pick<Transactions, 'write' | 'writeOnce'>,
    begin: (transaction: Transaction) => Promise<void>,
  ) {
    this.#transactions = transactions;
    this.#begin = begin;
    // A unit that is undone before its first write has nothing that waits for it.
    this.#released.promise.catch(() => undefined);
  }

  join<Result>(work: (transaction: Transaction) => Promise<Result>): Promise<Result> {
    return this.#afterLast(async () => {
      if (this.#failure) throw this.#failure.error;
      if (this.#committedEarly) return this.#transactions.write(work);
      return inSavepoint(await this.#open(), work);
    });
  }

  /** See UnitsOfWork.read. */
  async read<Result>(
    inside: (transaction: Transaction) => Promise<Result>,
    otherwise: () => Promise<Result>,
  ): Promise<Result> {
    // The changes are visible outside once they are committed. A failed commit fails the next write and the end of the unit.
    await this.#committingEarly?.catch(() => undefined);
    if (this.transaction === undefined) return otherwise();
    const reading = inside(this.transaction);
    this.#reading.add(reading);
    try {
      return await reading;
    } finally {
      this.#reading.delete(reading);
    }
  }

  /** Runs `end` in the transaction, or in a second one after an early commit, and waits for the commit. */
  async finish(end: (transaction: Transaction) => Promise<void>): Promise<void> {
    await this.#afterLast(async () => {
      this.hasEnded = true;
      if (this.#committedEarly) await this.#transactions.write(end);
      else await end(await this.#open());
    });
    this.#released.resolve();
    await this.#committed;
  }

  /** Rolls back. Returns whether there are changes that were committed before. */
  async undo(error: unknown): Promise<boolean> {
    this.hasEnded = true;
    await this.#last.catch(() => undefined);
    this.#released.reject(error);
    await this.#committed?.catch(() => undefined);
    return this.#committedEarly;
  }

  async #open(): Promise<Transaction> {
    this.#opening ??= this.#start();
    await this.#opening;
    if (this.#failure) throw this.#failure.error;
    if (!this.transaction) throw new Error('the transaction of the unit has ended');
    return this.transaction;
  }

  #start(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#committed = this.#transactions
        .writeOnce(async (transaction) => {
          this.transaction = transaction;
          let timer: NodeJS.Timeout | undefined;
          try {
            await this.#begin(transaction);
            timer = setTimeout(() => this.#commitEarly(), HELD_MS);
            resolve();
            await this.#released.promise;
          } finally {
            clearTimeout(timer);
            this.transaction = undefined;
          }
        })
        .catch((error: unknown) => {
          this.#failure = { error };
          reject(error);
          throw error;
        });
      // `finish` and `undo` await it; until then a failure is no unhandled rejection.
      this.#committed.catch(() => undefined);
    });
  }

  #commitEarly(): void {
    void this.#afterLast(async () => {
      if (this.hasEnded || this.#failure) return;
      this.#committingEarly = this.#commitAfterReads();
      await this.#committingEarly;
    }).catch(() => undefined);
  }

  async #commitAfterReads(): Promise<void> {
    await Promise.allSettled(this.#reading);
    this.#released.resolve();
    await this.#committed;
    this.#committedEarly = true;
  }

  #afterLast<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#last.then(work, work);
    this.#last = result;
    result.catch(() => undefined);
    return result;
  }
}

/** Runs `work` so that its failure undoes its changes only. Effects wait for the commit of the whole transaction. */
async function inSavepoint<Result>(
  transaction: Transaction,
  work: (transaction: Transaction) => Promise<Result>,
): Promise<Result> {
  const { queries } = transaction;
  const effects: (() => void)[] = [];
  await sql`savepoint joined`.execute(queries);
  try {
    const result = await work({ ...transaction, afterCommit: (effect) => effects.push(effect) });
    await sql`release savepoint joined`.execute(queries);
    for (const effect of effects) transaction.afterCommit(effect);
    return result;
  } catch (error) {
    // Fails if the connection broke or SQLite has rolled back on a full disk. Then the commit fails too.
    await sql`rollback to savepoint joined`.execute(queries).catch(() => undefined);
    throw error;
  }
}
