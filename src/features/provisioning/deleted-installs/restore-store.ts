import type { Queries } from '../../../database/database.ts';
import type { KeptBackup, KeptCertificate } from './kept.ts';

/** Adds a kept backup to an install. */
export async function insertKeptBackup(
  queries: Queries,
  installId: string,
  backup: KeptBackup,
): Promise<void> {
  await queries
    .insertInto('backups')
    .values({
      ...backup,
      install_id: installId,
      notification_emails: '[]',
      status: 'completed',
      reason: null,
      requested_by: null,
    })
    .execute();
}

/** Grants an install again to those of the users who are still partial users of its account. */
export async function grantAgain(
  queries: Queries,
  { id, account_id }: { id: string; account_id: string },
  users: readonly string[],
): Promise<void> {
  if (users.length === 0) return;
  const members = await queries
    .selectFrom('memberships')
    .select('user_id')
    .where('account_id', '=', account_id)
    .where('user_id', 'in', users)
    .where('role', '=', 'partial')
    .execute();
  if (members.length === 0) return;
  await queries
    .insertInto('install_grants')
    .values(members.map(({ user_id }) => ({ user_id, account_id, install_id: id })))
    .execute();
}

/** Gives a domain its certificate again. */
export async function insertKeptCertificate(
  queries: Queries,
  domainId: string,
  certificate: Omit<KeptCertificate, 'domain'>,
): Promise<void> {
  await queries
    .insertInto('certificates')
    .values({ domain_id: domainId, ...certificate })
    .execute();
}
