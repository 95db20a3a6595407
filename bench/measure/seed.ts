import { pino } from 'pino';
import type { Database } from '../../src/database/database.ts';
import { migrate } from '../../src/database/migrate.ts';
import { openDatabase } from '../../src/database/open.ts';
import { insertOwnedAccount } from '../../src/features/accounts/account-users/store.ts';
import { addToInstallCount } from '../../src/features/websites/installs/store.ts';
import { hashSecret } from '../../src/secrets/random-secret.ts';

const BATCH = 1_000;
const CREATED_AT = '2026-01-01T00:00:00.000Z';

export interface Seeded {
  accountId: string;
  authorization: string;
  installIds: readonly string[];
}

/** Writes an account with that many active installs, and an owner with a credential, directly into the database. */
export async function seedAccount(
  settings: { databaseUrl: string | null; dataDir: string },
  installs: number,
): Promise<Seeded> {
  const database = openDatabase(settings, pino({ level: 'silent' }));
  await migrate(database);
  const accountId = crypto.randomUUID();
  const userId = crypto.randomUUID();
  const username = crypto.randomUUID();
  const password = 'a-password-for-the-bench-only';
  const ids = Array.from({ length: installs }, () => crypto.randomUUID());
  await database.write(async ({ queries }) => {
    await insertOwnedAccount(queries, {
      account: { id: accountId, name: 'Bench' },
      owner: { id: userId, email: `${userId}@bench.example`, first_name: 'B', last_name: 'B' },
      created_at: CREATED_AT,
    });
    await queries
      .insertInto('credentials')
      .values({
        id: username,
        user_id: userId,
        name: 'bench',
        password_hash: hashSecret(password),
        expires_at: null,
        revoked_at: null,
        last_used_at: null,
        created_at: CREATED_AT,
      })
      .execute();
  });
  await seedInstalls(database, accountId, ids);
  await database.close();
  return {
    accountId,
    authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`,
    installIds: ids,
  };
}

/** Writes active installs with their default domains directly into the database. */
export async function seedInstalls(
  database: Database,
  accountId: string,
  ids: readonly string[],
): Promise<void> {
  await database.write(({ queries }) => addToInstallCount(queries, accountId, ids.length));
  for (let from = 0; from < ids.length; from += BATCH) {
    const batch = ids.slice(from, from + BATCH);
    await database.write(async ({ queries }) => {
      await queries
        .insertInto('installs')
        .values(
          batch.map((id) => ({
            id,
            account_id: accountId,
            site_id: null,
            environment: null,
            name: nameOf(id),
            status: 'active' as const,
            php_version: null,
            stable_ips: null,
            offload_file_name: '00000000.filestore',
            offload_file_content: '0000000000000000',
            created_at: CREATED_AT,
          })),
        )
        .execute();
      await queries
        .insertInto('domains')
        .values(
          batch.map((id) => ({
            id: crypto.randomUUID(),
            install_id: id,
            name: `${nameOf(id)}.localhost`,
            is_cname: true,
            is_primary: true,
            is_duplicate: false,
            redirect_to_id: null,
            created_at: CREATED_AT,
          })),
        )
        .execute();
    });
  }
}

const nameOf = (id: string) => `i${id.replaceAll('-', '')}`;
