import { insertMember, insertUser, setInstallGrants } from '../src/features/accounts/account-users/store.ts';
import { parseRoles, type RoleInput } from '../src/lib/roles.ts';
import type { openTestDatabase } from './database.ts';

type TestDatabase = Pick<Awaited<ReturnType<typeof openTestDatabase>>, 'write'>;

/** The time of the rows. */
export const ROWS_AT = '2026-01-02T03:04:05.678Z';

/** Inserts rows as the program does, for tests of stores that need no server. Each function returns the id of its row. */
export function storedRows({ write }: TestDatabase) {
  const created_at = ROWS_AT;
  const id = () => crypto.randomUUID();

  return {
    async account(): Promise<string> {
      const account = { id: id(), name: 'An account', created_at };
      await write(({ queries }) => queries.insertInto('accounts').values(account).execute());
      return account.id;
    },

    /** A user who is a member of an account. */
    async member(account_id: string, roles: RoleInput, installIds: string[] = []): Promise<string> {
      const user = { id: id(), first_name: 'Test', last_name: 'Person', created_at };
      await write(async ({ queries }) => {
        await insertUser(queries, { ...user, email: `${user.id}@people.example` });
        const membership = { account_id, user_id: user.id };
        await insertMember(queries, { ...membership, ...parseRoles(roles), created_at });
        await setInstallGrants(queries, membership, installIds);
      });
      return user.id;
    },

    async install(account_id: string): Promise<string> {
      const install = {
        ...{ id: id(), account_id, name: `i${id()}`, status: 'active' as const, created_at },
        ...{ environment: null, php_version: null, site_id: null, stable_ips: null },
        ...{ offload_file_name: 'a', offload_file_content: 'b' },
      };
      await write(({ queries }) => queries.insertInto('installs').values(install).execute());
      return install.id;
    },

    /** A served domain. */
    async domain(install_id: string, name: string): Promise<string> {
      const domain = {
        ...{ id: id(), install_id, name, is_cname: true, is_primary: false, is_duplicate: false, created_at },
        ...{ redirect_to_id: null, network_status: 'ACTIVE' as const, reached: true },
        ...{ checked_at: null, ssl_reason: null, awaits_order: true },
      };
      await write(({ queries }) => queries.insertInto('domains').values(domain).execute());
      return domain.id;
    },

    /** A completed backup. */
    async backup(install_id: string): Promise<string> {
      const backup = {
        ...{ id: id(), install_id, description: '', notification_emails: '[]', created_at },
        ...{ status: 'completed' as const, bytes: 1, files: 1, sha256: null, reason: null },
        ...{ requested_by: null, finished_at: created_at },
      };
      await write(({ queries }) => queries.insertInto('backups').values(backup).execute());
      return backup.id;
    },

    /** An operation whose job has a state. `error_code`: it failed although its job did its work. */
    async operation(
      of: { account_id: string; install_id: string },
      state: 'succeeded' | 'failed',
      error_code: string | null = null,
    ): Promise<string> {
      const job = {
        ...{ id: id(), kind: 'nothing', lane: null, payload: '{}', max_attempts: 1, error: null, created_at },
        ...{ run_at: created_at, lease_until: null, worker_id: null, request_id: null, started_at: null },
        ...{ finished_at: null, reason: null },
      };
      const operation = {
        ...{ id: job.id, job_id: job.id, kind: 'backup.create', ...of, install_name: 'x' },
        ...{ result: null, created_at },
      };
      await write(async ({ queries }) => {
        await queries.insertInto('jobs').values(job).execute();
        await queries.insertInto('operations').values(operation).execute();
        // As its end does, which triggers follow.
        await queries.updateTable('operations').set({ error_code }).where('id', '=', operation.id).execute();
        await queries.updateTable('jobs').set({ state }).where('id', '=', job.id).execute();
      });
      return operation.id;
    },
  };
}
