import type Sqlite from 'better-sqlite3';
import { LRUCache } from 'lru-cache';

const RESULTS_KEPT = 5_000;

/** Caches the results of one query until this or another process writes. */
export type UnchangedResults<Result extends object> = (key: string, read: () => Result) => Result;

/**
 * SQLite shows whether another connection has committed (`PRAGMA data_version`) for a fraction of a join's cost. `connection` must be
 * read-only, because its own writes do not change that number. Results are shared between callers, which must not change them.
 */
export function createUnchangedResults(connection: Sqlite.Database) {
  const version = connection.prepare('pragma data_version').pluck();
  return <Result extends object>(): UnchangedResults<Result> => {
    const results = new LRUCache<string, Result>({ max: RESULTS_KEPT });
    let seen: unknown;
    return (key, read) => {
      const present = version.get();
      if (present !== seen) results.clear();
      seen = present;
      let result = results.get(key);
      if (result === undefined) {
        result = read();
        results.set(key, result);
      }
      return result;
    };
  };
}
