import type Sqlite from 'better-sqlite3';
import { sql } from 'kysely';
import { OperatorError } from '../../lib/operator-error.ts';
import type { Database } from '../database.ts';

/** Where the rows of a SQLite database have been moved to. */
export interface Move {
  /** Address of the PostgreSQL database, without user and password. */
  to: string;
  /** ISO 8601. */
  at: string;
}

const MARK = 'moved_database';
/** Begins the names of the triggers, and no other object's. */
const TRIGGER = 'moved__';
const REFUSAL =
  'the rows of this database have been moved to PostgreSQL, and the server has to be restarted with it';

/**
 * Marks a database as moved, in the caller's transaction. From its commit on, every write of every process is refused, also of a server that
 * runs and of an earlier version: triggers are part of the file.
 */
export function markMoved(connection: Sqlite.Database, { to, at }: Move): void {
  const tables = connection
    .prepare<[], string>(
      "select name from sqlite_schema where type = 'table' and name not like 'sqlite\\_%' escape '\\'",
    )
    .pluck()
    .all();
  connection.exec(`create table ${MARK} (moved_to text not null, moved_at text not null)`);
  connection.prepare(`insert into ${MARK} (moved_to, moved_at) values (?, ?)`).run(to, at);
  for (const table of tables) {
    for (const change of ['insert', 'update', 'delete']) {
      connection.exec(
        `create trigger ${TRIGGER}${table}__${change} before ${change} on ${table} begin select raise(abort, '${REFUSAL}'); end`,
      );
    }
  }
}

/** Takes the mark away, in the caller's transaction. Null if there is none. */
export function unmarkMoved(connection: Sqlite.Database): Move | null {
  const isMarked = connection.prepare('select 1 from sqlite_schema where name = ?').get(MARK) !== undefined;
  if (!isMarked) return null;
  const move = connection.prepare<[], Move>(`select moved_to as "to", moved_at as at from ${MARK}`).get();
  const triggers = connection
    .prepare<[number, string], string>(
      "select name from sqlite_schema where type = 'trigger' and substr(name, 1, ?) = ?",
    )
    .pluck()
    .all(TRIGGER.length, TRIGGER);
  for (const name of triggers) connection.exec(`drop trigger ${name}`);
  connection.exec(`drop table ${MARK}`);
  return move ?? null;
}

/** Where the rows of a database are now; null if they are in it. */
export async function moveOf({
  dialect,
  reader,
}: Pick<Database, 'dialect' | 'reader'>): Promise<Move | null> {
  if (dialect === 'postgres') return null;
  const mark = await sql`select 1 from sqlite_schema where name = ${MARK}`.execute(reader);
  if (mark.rows.length === 0) return null;
  const { rows } = await sql<Move>`select moved_to as "to", moved_at as at from ${sql.table(MARK)}`.execute(
    reader,
  );
  return rows[0] ?? null;
}

/** One sentence about a move, and one about what to do. */
export const aboutMove = ({ to, at }: Move) => ({
  message: `The database of this folder was moved to PostgreSQL at ${to} on ${at.slice(0, 10)}.`,
  remedy:
    'Set HOMEPORT_DATABASE_URL to its address, and restart the server; "homeport platform migrate --cancel" returns to SQLite, without what was changed on PostgreSQL.',
});

/** Throws OperatorError if the rows of the database are in PostgreSQL now. */
export async function requireNotMoved(database: Pick<Database, 'dialect' | 'reader'>): Promise<void> {
  const move = await moveOf(database);
  if (move === null) return;
  const { message, remedy } = aboutMove(move);
  throw new OperatorError(`${message} ${remedy}`);
}
