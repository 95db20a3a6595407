import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { openTestDatabase } from '../../test/database.ts';
import { begunReplacements } from './migrations/0045-begun-replacements.ts';
import { POSTGRES_TYPES, SQLITE_TYPES } from './migrations/column-types.ts';

it('marks restores and copies that an earlier version began and did not end', async () => {
  const database = await openTestDatabase();
  try {
    const at = '2026-01-01T00:00:00.000Z';
    const job = (kind: string, state: 'queued' | 'failed', attempt: number) => ({
      ...{ id: crypto.randomUUID(), kind, state, attempt, payload: '{}', max_attempts: 3 },
      ...{ run_at: at, created_at: at, started_at: attempt === 0 ? null : at },
    });
    const begun = await database.write(async ({ queries }) => {
      await queries
        .insertInto('jobs')
        .values([
          job('restore_backup', 'queued', 1),
          job('copy_install', 'queued', 2),
          job('copy_install', 'queued', 0),
          job('create_backup', 'queued', 1),
          job('restore_backup', 'failed', 3),
        ])
        .execute();
      const types = database.dialect === 'sqlite' ? SQLITE_TYPES : POSTGRES_TYPES;
      for (const statement of begunReplacements(types)) await sql.raw(statement).execute(queries);
      return queries.selectFrom('jobs').select('begun_at').orderBy('seq').execute();
    });
    expect(begun.map(({ begun_at }) => begun_at)).toEqual([at, at, null, null, null]);
  } finally {
    await database.remove();
  }
});
