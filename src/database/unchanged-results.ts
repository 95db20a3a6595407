import type Sqlite from 'better-sqlite3';
import { LRUCache } from 'lru-cache';
import { entryLimit } from '../lib/entry-limit.ts';

const RESULTS_KEPT = 5_000;

/** Caches the results of one query until this or another process writes. */
export type UnchangedResults<Result extends object> = (key: string, read: () => Result) => Result;

export interface UnchangedResultsFactory {
  /** A cache for the results of one query. */
  create<Result extends object>(): UnchangedResults<Result>;
  /** Call after each commit of this process, so that the next read sees it. */
  committed(): void;
}

/**
 * SQLite shows whether another connection has committed (`PRAGMA data_version`) for a fraction of a join's cost. Asked once in a turn of
 * the event loop, and again after {@link UnchangedResultsFactory.committed}: commits of other processes are seen in the next turn.
 * `connection` must be read-only, because its own writes do not change that number. Results are shared between callers, which must not
 * change them.
 */
export function createUnchangedResults(connection: Sqlite.Database): UnchangedResultsFactory {
  const version = connection.prepare('pragma data_version').pluck();
  /** The version of this turn; undefined before the first question. */
  let present: unknown;
  const forget = () => {
    present = undefined;
  };
  return {
    committed: forget,
    create<Result extends object>(): UnchangedResults<Result> {
      const results = new LRUCache<string, Result>(entryLimit(RESULTS_KEPT));
      let seen: unknown;
      return (key, read) => {
        if (present === undefined) {
          present = version.get();
          setImmediate(forget);
        }
        if (present !== seen) results.clear();
        seen = present;
        let result = results.get(key);
        if (result === undefined) {
          result = read();
          results.set(key, result);
        }
        return result;
      };
    },
  };
}
