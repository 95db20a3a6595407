import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { openTestDatabase } from '../../test/database.ts';

let database: Awaited<ReturnType<typeof openTestDatabase>>;

beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database?.remove());

/** More than the pool has connections. */
const MANY = Array.from({ length: 12 });

/** The process of PostgreSQL that answers a read. */
async function backend(): Promise<number> {
  const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(database.reader);
  return rows[0]?.pid ?? 0;
}

test('a connection whose statement PostgreSQL refused is used again', async () => {
  const pid = await backend();
  for (const _ of MANY) await expect(sql`select 1 / 0`.execute(database.reader)).rejects.toThrow('zero');
  expect(await backend()).toBe(pid);
});

test('a connection that breaks during a statement is replaced', async () => {
  const pid = await backend();
  for (const _ of MANY) {
    await sql`select pg_terminate_backend(pg_backend_pid())`.execute(database.reader).catch(() => {});
  }
  await vi.waitFor(async () => expect(await backend()).not.toBe(pid));
});

test('a connection that PostgreSQL ends is given to no statement that waits for one', async () => {
  const end = sql`select pg_terminate_backend(pg_backend_pid()), pg_sleep(60)`;
  const ended = Promise.allSettled(MANY.map(() => end.execute(database.reader)));
  await Promise.all(MANY.map(backend));
  for (const { status } of await ended) expect(status).toBe('rejected');
});
