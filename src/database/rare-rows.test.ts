import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { openTestDatabase } from '../../test/database.ts';
import { spentBackups } from '../features/backups/copy-store.ts';
import { unsettledImports } from '../features/backups/imports/unsettled-store.ts';
import type { Queries } from './database.ts';
import { SQLITE_FILE } from './open.ts';

let database: Awaited<ReturnType<typeof openTestDatabase>>;

beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database?.remove());

it.each<[string, (queries: Queries) => Promise<unknown>, RegExp]>([
  ['backups for copies', (queries) => spentBackups(queries, 'discard_backup'), /INDEX backups_for_copies/],
  [
    'imports whose settlement failed',
    (queries) => unsettledImports(queries, '2026-01-01T00:00:00.000Z'),
    /INDEX jobs_failed \(kind=\? AND finished_at>\?\)/,
  ],
])('%s are found without reading all others', async (_, find, index) => {
  const texts: string[] = [];
  const { prepare } = Sqlite.prototype;
  const prepared = vi.spyOn(Sqlite.prototype, 'prepare').mockImplementation(function (
    this: Sqlite.Database,
    text: string,
  ) {
    texts.push(text);
    return prepare.call(this, text);
  });
  try {
    await find(database.reader);
  } finally {
    prepared.mockRestore();
  }
  const connection = new Sqlite(join(database.place.settings.dataDir, SQLITE_FILE), { readonly: true });
  const plans = texts.flatMap((text) =>
    connection
      .prepare<unknown[], { detail: string }>(`explain query plan ${text}`)
      .all(...Array.from(text.matchAll(/\?/g), () => null))
      .map(({ detail }) => detail),
  );
  connection.close();
  expect(plans).toContainEqual(expect.stringMatching(index));
});
