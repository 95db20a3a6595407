import { readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { databasePlace, openTestDatabase, silent, temporaryFolder } from '../../test/database.ts';
import { copyDatabase, faultOfCopy } from './copy-database.ts';
import { openDatabase, SQLITE_FILE } from './open.ts';
import { restorePostgres } from './postgres-dump.ts';

let database: Awaited<ReturnType<typeof openTestDatabase>>;
let folder: ReturnType<typeof temporaryFolder>;
beforeAll(async () => {
  database = await openTestDatabase();
  folder = temporaryFolder();
});
afterAll(async () => {
  await database.remove();
  folder.remove();
});

let counter = 0;
const insertAccount = () =>
  database.write(async ({ queries }) => {
    counter += 1;
    await queries
      .insertInto('accounts')
      .values({
        id: crypto.randomUUID(),
        name: `Account ${counter} ${'x'.repeat(2_000)}`,
        created_at: '2026-01-01T00:00:00.000Z',
      })
      .execute();
  });

const countAccounts = async (queries: typeof database.reader) =>
  Number(
    (
      await queries
        .selectFrom('accounts')
        .select((eb) => eb.fn.countAll<number>().as('count'))
        .executeTakeFirstOrThrow()
    ).count,
  );

test('a copy is of the moment that `look` read, although others write meanwhile', async () => {
  for (let index = 0; index < 200; index++) await insertAccount();
  const to = join(folder.path, 'copy');
  let writing = true;
  const writer = (async () => {
    // Yields a turn of the event loop, without which the group commit would never end.
    while (writing && counter < 3_000) {
      await insertAccount();
      await nextTurn();
    }
  })();
  let seen = 0;
  try {
    seen = await copyDatabase(
      database.place.settings,
      to,
      async (queries) => {
        const count = await countAccounts(queries);
        const before = counter;
        await expect.poll(() => counter).toBeGreaterThan(before + 3);
        return count;
      },
      { log: silent },
    );
  } finally {
    writing = false;
    await writer;
  }
  expect(counter).toBeGreaterThan(seen);
  expect(statSync(to).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder.path)).toEqual(['copy']);
  expect(await faultOfCopy(database.dialect, to)).toBeNull();

  const restored = await databasePlace();
  const { databaseUrl, dataDir } = restored.settings;
  if (databaseUrl !== null) await restorePostgres(databaseUrl, to, { log: silent });
  const copy = openDatabase(
    databaseUrl === null ? { databaseUrl, dataDir: copiedInto(dataDir, to) } : restored.settings,
    silent,
  );
  try {
    expect(await countAccounts(copy.reader)).toBe(seen);
  } finally {
    await copy.close();
  }
  if (databaseUrl !== null) {
    await expect(restorePostgres(databaseUrl, to, { log: silent })).rejects.toThrow('is not empty');
  }
  await restored.remove();
});

function copiedInto(dataDir: string, file: string): string {
  writeFileSync(join(dataDir, SQLITE_FILE), readFileSync(file), { mode: 0o600 });
  return dataDir;
}

test('a copy is of the moment that it began, whatever `look` reads', async () => {
  const to = join(folder.path, 'unseen');
  const before = await countAccounts(database.reader);
  await copyDatabase(database.place.settings, to, () => insertAccount(), { log: silent });
  const restored = await databasePlace();
  const { databaseUrl, dataDir } = restored.settings;
  if (databaseUrl !== null) await restorePostgres(databaseUrl, to, { log: silent });
  const copy = openDatabase(
    databaseUrl === null ? { databaseUrl, dataDir: copiedInto(dataDir, to) } : restored.settings,
    silent,
  );
  try {
    expect(await countAccounts(copy.reader)).toBe(before);
  } finally {
    await copy.close();
    await restored.remove();
  }
});

test('a truncated copy is not accepted as whole', async () => {
  const to = join(folder.path, 'cut');
  await copyDatabase(database.place.settings, to, async () => null, { log: silent });
  truncateSync(to, database.dialect === 'sqlite' ? 20_000 : 100);
  expect(await faultOfCopy(database.dialect, to)).not.toBeNull();
});

test('a password appears in no argument and no error', async () => {
  if (database.dialect !== 'postgres') return;
  const url = new URL(database.place.settings.databaseUrl ?? '');
  url.password = 'topsecret';
  url.pathname = '/nowhere';
  const to = join(folder.path, 'refused');
  const failure = await copyDatabase({ databaseUrl: url.href, dataDir: folder.path }, to, async () => null, {
    log: silent,
  }).catch((error: unknown) => String(error));
  expect(failure).toContain('nowhere');
  expect(failure).not.toContain('topsecret');
});
