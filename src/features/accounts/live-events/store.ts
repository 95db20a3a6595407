import type { Queries } from '../../../database/database.ts';
import type { Rights } from './rights.ts';

export async function loadRights(queries: Queries, userId: string): Promise<Rights> {
  const rows = await queries
    .selectFrom('memberships as member')
    .leftJoin('install_grants as given', (join) =>
      join.onRef('given.account_id', '=', 'member.account_id').onRef('given.user_id', '=', 'member.user_id'),
    )
    .leftJoin('installs as install', 'install.id', 'given.install_id')
    .select(['member.account_id', 'member.role', 'install.id as install_id', 'install.site_id'])
    .where('member.user_id', '=', userId)
    .where('member.invite_accepted', '=', true)
    .execute();
  return {
    userId,
    roles: new Map(rows.map(({ account_id, role }) => [account_id, role])),
    installs: new Set(rows.flatMap(({ install_id }) => install_id ?? [])),
    sites: new Set(rows.flatMap(({ site_id }) => site_id ?? [])),
  };
}

export async function findSession(queries: Queries, sessionId: string) {
  return queries
    .selectFrom('sessions')
    .select(['last_seen_at', 'expires_at', 'awaits_second_factor'])
    .where('id', '=', sessionId)
    .executeTakeFirst();
}
