import { setTimeout as sleep } from 'node:timers/promises';
import Sqlite from 'better-sqlite3';
import type { Queries, Transaction } from './database.ts';

/** Transactions that asked for the writer during one turn of the event loop are committed, and synced, together. */
export interface GroupCommit {
  write<Result>(work: (transaction: Transaction) => Promise<Result>): Promise<Result>;
  /** Resolves when nothing is waiting or under way. */
  idle(): Promise<void>;
}

/** How long a transaction waits for another process that holds the one writer, and how often it looks. */
export interface BusyTimes {
  patienceMs: number;
  retryMs: number;
}

const BUSY_TIMES: BusyTimes = { patienceMs: 5_000, retryMs: 3 };

interface Waiting {
  /** When it asked, in milliseconds of `performance.now()`. */
  since: number;
  /** Runs inside the group's transaction; returns what to do once the group is durable. */
  run(): Promise<() => void>;
  fail(error: unknown): void;
}

/**
 * One `BEGIN IMMEDIATE` for all transactions of a turn, a savepoint for each, one sync for all of them; nobody is
 * answered before the commit. On a disk whose sync takes 1 ms this is ten times as many durable writes a second
 * as a transaction each. While another process writes, transactions wait without holding up the event loop as SQLite's
 * own waiting would, so `connection` has a busy timeout of 0; after `patienceMs` they fail.
 */
export function createGroupCommit(
  connection: Sqlite.Database,
  queries: Queries,
  { patienceMs, retryMs }: BusyTimes = BUSY_TIMES,
): GroupCommit {
  let waiting: Waiting[] = [];
  let running: Promise<void> | undefined;

  function write<Result>(work: (transaction: Transaction) => Promise<Result>): Promise<Result> {
    return new Promise<Result>((resolve, reject) => {
      waiting.push({
        since: performance.now(),
        async run() {
          const effects: (() => void)[] = [];
          connection.exec('savepoint one');
          try {
            const result = await work({
              dialect: 'sqlite',
              queries,
              afterCommit: (effect) => effects.push(effect),
            });
            connection.exec('release one');
            return () => {
              resolve(result);
              for (const effect of effects) effect();
            };
          } catch (error) {
            // A full disk makes SQLite roll back by itself, and the savepoint is gone with the transaction.
            if (!connection.inTransaction) throw error;
            connection.exec('rollback to one; release one');
            return () => reject(error);
          }
        },
        fail: reject,
      });
      running ??= nextTurn().then(commitAll);
    });
  }

  async function commitAll(): Promise<void> {
    while (waiting.length > 0) {
      if (!begin()) await sleep(retryMs);
      else await commit(take(() => true));
    }
    running = undefined;
  }

  /** Begins a transaction, or tells those that cannot wait longer that there is none to be had. */
  function begin(): boolean {
    try {
      connection.exec('begin immediate');
      return true;
    } catch (error) {
      const latest = performance.now() - patienceMs;
      const lost = take((one) => !isBusy(error) || one.since <= latest);
      for (const one of lost) one.fail(error);
      return false;
    }
  }

  /** Takes those of the waiting that are meant, in their order. */
  function take(meant: (one: Waiting) => boolean): Waiting[] {
    const taken = waiting.filter(meant);
    waiting = waiting.filter((one) => !meant(one));
    return taken;
  }

  async function commit(group: Waiting[]): Promise<void> {
    const answers: (() => void)[] = [];
    try {
      for (const one of group) answers.push(await one.run());
      connection.exec('commit');
    } catch (error) {
      if (connection.inTransaction) connection.exec('rollback');
      for (const one of group) one.fail(error);
      return;
    }
    for (const answer of answers) answer();
  }

  return {
    write,
    async idle() {
      while (running) await running;
    },
  };
}

function isBusy(error: unknown): boolean {
  return error instanceof Sqlite.SqliteError && error.code.startsWith('SQLITE_BUSY');
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
