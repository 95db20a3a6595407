import type { Insertable, Updateable } from 'kysely';
import type { Queries } from '../../database/database.ts';
import type { Tables } from '../../database/tables.ts';

/** The stored authority of the hosts, keys sealed. The table has one row. */
export function findAuthority(queries: Queries) {
  return queries.selectFrom('host_authority').selectAll().executeTakeFirst();
}

/** Inserts the authority unless a row exists. */
export async function insertAuthority(
  queries: Queries,
  authority: Omit<Insertable<Tables['host_authority']>, 'one'>,
): Promise<void> {
  await queries
    .insertInto('host_authority')
    .values({ one: 1, ...authority })
    .onConflict((conflict) => conflict.column('one').doNothing())
    .execute();
}

export async function updateAuthority(
  queries: Queries,
  change: Updateable<Tables['host_authority']>,
): Promise<void> {
  await queries.updateTable('host_authority').set(change).where('one', '=', 1).execute();
}

/** Stores the SSH host key of all hosts unless another process has. */
export async function insertSshHostKey(
  queries: Queries,
  key: Pick<Updateable<Tables['host_authority']>, 'ssh_host_key' | 'sealed_ssh_host_key'>,
): Promise<void> {
  await queries
    .updateTable('host_authority')
    .set(key)
    .where('one', '=', 1)
    .where('ssh_host_key', 'is', null)
    .execute();
}

/** Stores the authority of the edges unless another process has. */
export async function insertEdgeAuthority(
  queries: Queries,
  authority: Pick<Updateable<Tables['host_authority']>, 'edge_certificate' | 'sealed_edge_key'>,
): Promise<void> {
  await queries
    .updateTable('host_authority')
    .set(authority)
    .where('one', '=', 1)
    .where('edge_certificate', 'is', null)
    .execute();
}
