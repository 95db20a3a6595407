import type Sqlite from 'better-sqlite3';
import { LRUCache } from 'lru-cache';

const RESULTS_KEPT = 5_000;

/** Remembers the results of one query for exactly as long as nothing is written, by this process or another. */
export type UnchangedResults<Result extends object> = (key: string, read: () => Result) => Result;

/**
 * SQLite tells whether another connection has committed since (`PRAGMA data_version`), for a fraction of what a join
 * costs. `connection` must be one that only reads: its own writes do not show in that number. Results are shared
 * between callers, so nobody may change them.
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
