import type Sqlite from 'better-sqlite3';

/** Changed rows remembered of one column, and of one transaction. Beyond it, everything counts as changed. */
const REMEMBERED = 10_000;

/** Rows of a table, by the value of one of its columns. */
export interface WatchedRows {
  /** Whether no row with this value has changed since the commit with the number `since`. */
  isUnchanged(value: unknown, since: number): boolean;
}

interface Watched {
  name: string;
  table: string;
  column: string | null;
  /** The number of the last commit that changed a row with the value. */
  changedAt: Map<unknown, number>;
}

export interface RowChanges {
  /** Watches a table by the value of a column; null: all its rows together. */
  watch(table: string, column: string | null): WatchedRows;
  /** The number of the last commit that was noticed. */
  present(): number;
  /** Looks for commits of other processes, once in a turn of the event loop. After one, all rows count as changed. */
  noticeOthers(): void;
  /** Call after each commit of this process. */
  committed(): void;
  /** Call if it is not known whether a commit took effect. */
  failed(): void;
}

/**
 * Remembers which rows changed at which commit. `writing` must be the connection of all changes of this process: SQLite calls temporary
 * triggers for the changes of their own connection, and `PRAGMA data_version` of a connection shows the commits of all others.
 */
export function createRowChanges(writing: Sqlite.Database): RowChanges {
  const version = writing.prepare('pragma data_version').pluck();
  const watched = new Map<string, Watched>();
  /** Without triggers so far. */
  let unwatched: Watched[] = [];
  let commit = 0;
  /** Rows count as changed since all commits before this one. */
  let forgottenBefore = 0;
  /** The rows of the transaction that is not committed yet. */
  let pending: [rows: Watched, value: unknown][] = [];
  let seen = version.get();
  let isAsked = false;
  const askAgain = () => {
    isAsked = false;
  };

  function forget(): void {
    commit++;
    forgottenBefore = commit;
    for (const { changedAt } of watched.values()) changedAt.clear();
  }

  /** A rollback would undo triggers that were created in its transaction. */
  function createTriggers(): void {
    if (unwatched.length === 0 || writing.inTransaction) return;
    for (const one of unwatched) for (const trigger of triggersOf(one)) writing.exec(trigger);
    unwatched = [];
    forget();
  }

  writing.function('homeport_row_changed', (name: string, value: unknown) => {
    const rows = watched.get(name);
    // One more than the limit shows that some are missing.
    if (rows !== undefined && pending.length <= REMEMBERED) pending.push([rows, value]);
    return null;
  });

  return {
    watch(table, column) {
      const name = `${table}.${column ?? '*'}`;
      let one = watched.get(name);
      if (one === undefined) {
        one = { name, table, column, changedAt: new Map() };
        watched.set(name, one);
        unwatched.push(one);
      }
      const { changedAt } = one;
      return {
        isUnchanged: (value, since) =>
          since >= forgottenBefore &&
          unwatched.length === 0 &&
          (changedAt.size === 0 || (changedAt.get(value) ?? 0) <= since),
      };
    },
    present: () => commit,
    noticeOthers() {
      if (isAsked) return;
      isAsked = true;
      setImmediate(askAgain);
      createTriggers();
      const present = version.get();
      if (present !== seen) forget();
      seen = present;
    },
    committed() {
      const rows = pending;
      pending = [];
      if (rows.length > REMEMBERED) return forget();
      if (rows.length === 0) return;
      commit++;
      for (const [{ changedAt }, value] of rows) changedAt.set(value, commit);
      if ([...watched.values()].some(({ changedAt }) => changedAt.size > REMEMBERED)) forget();
    },
    failed() {
      pending = [];
      forget();
    },
  };
}

/** Triggers that report the rows before and after a change. */
function triggersOf({ name, table, column }: Watched): string[] {
  const report = (row: string) =>
    `select homeport_row_changed('${name}', ${column === null ? 'null' : `${row}.${column}`});`;
  const before = report('old');
  const after = report('new');
  const bodies = { insert: after, update: before === after ? after : `${before} ${after}`, delete: before };
  return Object.entries(bodies).map(
    ([event, body]) =>
      `create temp trigger if not exists "row_changes_${name}_${event}" after ${event} on main.${table} begin ${body} end`,
  );
}
