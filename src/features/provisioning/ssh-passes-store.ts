import type { Queries } from '../../database/database.ts';
import type { SshPassRow } from '../../database/tables/ssh-passes.ts';

/** Stores a key of a session, and deletes those that have ended. */
export async function insertPass(queries: Queries, pass: SshPassRow, now: string): Promise<void> {
  await queries.deleteFrom('ssh_passes').where('expires_at', '<=', now).execute();
  await queries.insertInto('ssh_passes').values(pass).execute();
}

/** The session whose key this is, if its host passes sessions on to `toHost` and was not given up. `by`: the name of that host. */
export function findPass(queries: Queries, fingerprint: string, toHost: string, now: string) {
  return queries
    .selectFrom('ssh_passes as pass')
    .innerJoin('hosts as from', 'from.id', 'pass.from_host')
    .select(['pass.install_id', 'pass.user_id', 'pass.users_fingerprint', 'pass.address', 'from.name as by'])
    .where('pass.fingerprint', '=', fingerprint)
    .where('pass.to_host', '=', toHost)
    .where('pass.expires_at', '>', now)
    .where('from.lost_at', 'is', null)
    .executeTakeFirst();
}
