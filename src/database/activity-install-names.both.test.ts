import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { openTestDatabase } from '../../test/database.ts';
import { activityInstallNames } from './migrations/0026-activity-install-names.ts';
import { POSTGRES_TYPES, SQLITE_TYPES } from './migrations/column-types.ts';

it('gives entries of deleted installs the name that the log still has', async () => {
  const database = await openTestDatabase();
  try {
    const gone = crypto.randomUUID();
    const unknown = crypto.randomUUID();
    const entry = (action: string, subject_id: string | null, subject_name: string, install_id: string) => ({
      id: crypto.randomUUID(),
      at: '2026-01-01T00:00:00.000Z',
      action,
      subject_id,
      subject_name,
      install_id,
      user_name: 'the operator',
      means: 'command_line' as const,
    });
    const names = await database.write(async ({ queries }) => {
      await queries
        .insertInto('activity')
        .values([
          entry('domain.create', null, 'shop.example', gone),
          entry('install.delete', gone, 'shop', gone),
          entry('domain.create', null, 'other.example', unknown),
        ])
        .execute();
      await sql`alter table activity drop column install_name`.execute(queries);
      const types = database.dialect === 'sqlite' ? SQLITE_TYPES : POSTGRES_TYPES;
      for (const statement of activityInstallNames(types)) await sql.raw(statement).execute(queries);
      return queries.selectFrom('activity').select('install_name').orderBy('seq').execute();
    });
    expect(names.map(({ install_name }) => install_name)).toEqual(['shop', 'shop', null]);
  } finally {
    await database.remove();
  }
});
