import type Sqlite from 'better-sqlite3';
import type { Logger } from 'pino';
import { codeOf } from '../lib/error-code.ts';
import type { ChangeSource } from './change-feed.ts';
import { parseChange } from './change-schema.ts';
import type { Queries } from './database.ts';

/** Interval of checking for commits; a check takes some microseconds. */
const POLL_MS = 250;
/** How soon a commit of this process is read. Commits within this time are read together. */
const OWN_COMMIT_MS = 5;
/** Rows read at a time. */
const BATCH = 1_000;
/** More than any process lags behind at four readings per second. */
const KEPT = 5_000;

/**
 * Reads the rows that the triggers write into the table `changes` (migration 0005). `connection` must be read-only, because its
 * `data_version` shows only commits of other connections. While the table cannot be read, this logs once and keeps trying. `onOwnCommit` calls a listener after each commit of this process, until the returned
 * function is called: those changes need not wait for the next check.
 */
export function sqliteChanges(
  connection: Sqlite.Database,
  log: Logger,
  {
    pollMs = POLL_MS,
    onOwnCommit = () => () => {},
  }: { pollMs?: number; onOwnCommit?: (listener: () => void) => () => void } = {},
): ChangeSource {
  return (sink) => {
    const version = connection.prepare('pragma data_version').pluck();
    const last = connection.prepare("select seq from sqlite_sequence where name = 'changes'").pluck();
    const later = connection.prepare<[number, number], { seq: number }>(
      'select seq, topic, account_id, install_id, id, user_id from changes where seq > ? order by seq limit ?',
    );
    let seenVersion: unknown;
    let seen = 0;
    let failing = false;

    function begin(): void {
      seenVersion = version.get();
      seen = Number(last.get() ?? 0);
      // Deferred, because no listener is called before subscribing has returned.
      queueMicrotask(() => sink.on());
    }

    function look(): void {
      const present = version.get();
      if (present === seenVersion) return;
      for (;;) {
        const rows = later.all(seen, BATCH);
        for (const row of rows) {
          const change = parseChange(row);
          // The numbers have gaps only if rows were deleted before they were read.
          if (!change || row.seq !== seen + 1) sink.on();
          if (change) sink.changed(change);
          seen = row.seq;
        }
        if (rows.length < BATCH) break;
      }
      seenVersion = present;
    }

    function check(): void {
      try {
        look();
        if (failing) sink.on();
        failing = false;
      } catch (error) {
        if (!isOfSqlite(error)) throw error;
        if (failing) return;
        failing = true;
        log.warn({ err: error }, 'the change feed was interrupted; reading changes again');
        sink.off();
      }
    }

    begin();
    const timer = setInterval(check, pollMs).unref();
    let soon: NodeJS.Timeout | undefined;
    const ignoreCommits = onOwnCommit(() => {
      soon ??= setTimeout(() => {
        soon = undefined;
        check();
      }, OWN_COMMIT_MS).unref();
    });
    return {
      async close() {
        ignoreCommits();
        clearTimeout(soon);
        clearInterval(timer);
      },
    };
  };
}

function isOfSqlite(error: unknown): boolean {
  return codeOf(error)?.startsWith('SQLITE_') === true;
}

/** Deletes up to `limit` rows that every process read long ago. Returns their number. */
export async function pruneChanges(queries: Queries, limit: number): Promise<number> {
  const { numDeletedRows } = await queries
    .deleteFrom('changes')
    .where('seq', 'in', (of) =>
      of
        .selectFrom('changes')
        .select('seq')
        .where('seq', '<=', (all) =>
          all.selectFrom('changes').select((eb) => eb(eb.fn.max('seq'), '-', KEPT).as('oldest')),
        )
        .orderBy('seq')
        .limit(limit),
    )
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}
