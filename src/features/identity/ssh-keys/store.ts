import type { Insertable } from 'kysely';
import type { Queries } from '../../../database/database.ts';
import type { Tables } from '../../../database/tables.ts';
import type { PageOf, PageRequest } from '../../../lib/page.ts';

export interface SshKeyView {
  id: string;
  comment: string;
  fingerprint_md5: string;
  /** Base64 without padding. */
  fingerprint_sha256: string;
  created_at: string;
}

/** A page of a user's keys, oldest first. */
export async function pageOfSshKeys(
  queries: Queries,
  userId: string,
  page: PageRequest,
): Promise<PageOf<SshKeyView>> {
  const [count, results] = await Promise.all([
    countSshKeys(queries, userId),
    queries
      .selectFrom('ssh_keys')
      .where('user_id', '=', userId)
      .select(['id', 'comment', 'fingerprint_md5', 'fingerprint_sha256', 'created_at'])
      .orderBy('seq')
      .limit(page.limit)
      .offset(page.offset)
      .execute(),
  ]);
  return { count, results };
}

export async function countSshKeys(queries: Queries, userId: string): Promise<number> {
  const { count } = await queries
    .selectFrom('ssh_keys')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('user_id', '=', userId)
    .executeTakeFirstOrThrow();
  return count;
}

export async function insertSshKey(queries: Queries, key: Insertable<Tables['ssh_keys']>): Promise<void> {
  await queries.insertInto('ssh_keys').values(key).execute();
}

/** Deletes and returns a user's key; undefined if they have no such key. */
export function deleteSshKey(queries: Queries, userId: string, id: string) {
  return queries
    .deleteFrom('ssh_keys')
    .where('id', '=', id)
    .where('user_id', '=', userId)
    .returning(['id', 'comment', 'fingerprint_md5', 'fingerprint_sha256'])
    .executeTakeFirst();
}

/** Users of an active install's account who have a key, with their role and grant; oldest key first. */
export function ownersOfKey(queries: Queries, installName: string, fingerprintSha256: string) {
  return (
    queries
      .selectFrom('installs as install')
      .innerJoin('memberships as member', 'member.account_id', 'install.account_id')
      .innerJoin('ssh_keys as key', 'key.user_id', 'member.user_id')
      .leftJoin('install_grants as given', (join) =>
        join.onRef('given.install_id', '=', 'install.id').onRef('given.user_id', '=', 'member.user_id'),
      )
      .select(['install.id', 'install.name', 'member.user_id', 'member.role', 'given.install_id as granted'])
      .where('install.name', '=', installName)
      .where('install.status', '=', 'active')
      .where('key.fingerprint_sha256', '=', fingerprintSha256)
      // A stable order, so that a connection always belongs to the same user.
      .orderBy('key.seq')
      .execute()
  );
}
