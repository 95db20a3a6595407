import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTestDatabase } from '../../test/database.ts';
import { SQLITE_FILE } from './open.ts';
import { LITERAL_COLUMNS } from './sqlite-compiler.ts';

let database: Awaited<ReturnType<typeof openTestDatabase>>;
let reading: Sqlite.Database;

beforeAll(async () => {
  database = await openTestDatabase();
  reading = new Sqlite(join(database.place.settings.dataDir, SQLITE_FILE), { readonly: true });
});
afterAll(async () => {
  reading?.close();
  await database?.remove();
});

/** The plan that SQLite makes for a statement, with or without its values. */
function planOf(sql: string, parameters: readonly unknown[]): string {
  const rows = reading.prepare<unknown[], { detail: string }>(`explain query plan ${sql}`).all(...parameters);
  return rows.map(({ detail }) => detail).join('\n');
}

describe('a statement for SQLite', () => {
  it('is planned once: its values are not asked for', () => {
    const { sql, parameters } = database.reader
      .selectFrom('webhook_deliveries')
      .select('seq')
      .where('webhook_id', '=', 'a')
      .where('error', '=', 'pending')
      .compile();
    expect(sql).toContain('"webhook_id" = +? and "error" = +?');
    expect(parameters).toEqual(['a', 'pending']);
  });

  it('uses a partial index for a value that is known', () => {
    const { sql, parameters } = database.reader
      .selectFrom('jobs')
      .select('id')
      .where('state', 'in', ['queued', 'running'])
      .where('lane', '=', 'a')
      .compile();
    expect(planOf(sql, parameters)).toContain('INDEX jobs_lane_order');
    const running = database.reader
      .updateTable('jobs')
      .set({ state: 'failed' })
      .where('jobs.state', '=', 'running')
      .where('lease_until', '<', 'b')
      .compile();
    expect(planOf(running.sql, running.parameters)).toContain('INDEX jobs_lease');
    const next = database.reader
      .selectFrom('jobs')
      .select('id')
      .where('class', '=', 'short')
      .where('share', '=', 'a')
      .where('state', '=', 'queued')
      .where('behind', '=', false)
      .compile();
    expect(planOf(next.sql, next.parameters)).toContain('INDEX jobs_turns');
  });

  it("has the texts of partial indexes' conditions in it", () => {
    const conditions = reading
      .prepare<[], string>("select sql from sqlite_schema where type = 'index' and sql like '% where %'")
      .pluck()
      .all()
      .map((sql) => sql.slice(sql.toLowerCase().lastIndexOf(' where ')));
    const compared = conditions.flatMap((condition) =>
      [...condition.matchAll(/(\w+) (?:=|in) \(?'/g)].map(([, column]) => column),
    );
    expect(compared.length).toBeGreaterThan(0);
    expect(new Set(compared)).toEqual(LITERAL_COLUMNS);
  });
});
