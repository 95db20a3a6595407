import { sql } from 'kysely';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openTestDatabase } from '../../test/database.ts';
import { OperatorError } from '../lib/operator-error.ts';
import { PROGRAM_VERSION } from '../lib/program-version.ts';
import { migrate, schemaOfNewerProgram } from './migrate.ts';
import { RECORD_VERSION } from './newer-schema.ts';

let database: Awaited<ReturnType<typeof openTestDatabase>>;
beforeEach(async () => {
  database = await openTestDatabase();
});
afterEach(() => database.remove());

/** Migrations of a newer program. */
async function upgrade(version: string): Promise<void> {
  await sql`insert into kysely_migration (name, timestamp) values ('9999-later', '2027-01-01')`.execute(
    database.reader,
  );
  await database.write(({ queries }) => queries.updateTable('program_version').set({ version }).execute());
}

const failure = () => migrate(database).catch((error: unknown) => error);

it('names the version that upgraded the database, and what to do', async () => {
  await upgrade('7.8.9');
  const error = await failure();
  expect(error).toBeInstanceOf(OperatorError);
  expect(error).toHaveProperty(
    'message',
    expect.stringMatching(
      /^The database was brought up to date by Homeport 7\.8\.9 \(9999-later\), and this is Homeport \d+\.\d+\.\d+\S*, which does not know that schema\. Run Homeport 7\.8\.9 or newer, or restore the backup made before the upgrade\.$/,
    ),
  );
});

it('never tells a program to run itself, and describes a version that is not recorded', async () => {
  const other = expect.stringContaining('by another version of Homeport (9999-later)');
  await upgrade(PROGRAM_VERSION);
  expect(await failure()).toHaveProperty('message', other);
  await sql`drop table program_version`.execute(database.reader);
  expect(await failure()).toHaveProperty('message', other);
});

it('is null for a database of this program, which records its version with each migration', async () => {
  expect(await schemaOfNewerProgram(database)).toBeNull();
  const recorded = () => database.reader.selectFrom('program_version').selectAll().execute();
  const row = { one: 1, version: PROGRAM_VERSION };
  expect(await recorded()).toEqual([row]);
  await database.write(({ queries }) =>
    queries.updateTable('program_version').set({ version: '0.0.1' }).execute(),
  );
  await RECORD_VERSION.execute(database.reader);
  expect(await recorded()).toEqual([row]);
});
