import type { Database, PreparedQuery } from '../../../database/database.ts';
import type { Role } from '../../../lib/roles.ts';

/** A membership of a user. Those of a partial user occur once for each granted install. */
export interface RightsRow {
  account_id: string;
  role: Role;
  install_id: string | null;
  site_id: string | null;
}

/** The rights of a user. Every open page asks for them after changes. */
export function prepareRightsOf(
  database: Pick<Database, 'prepare'>,
): PreparedQuery<{ userId: string }, RightsRow> {
  return database.prepare<{ userId: string }, RightsRow>(
    (queries, parameter) =>
      queries
        .selectFrom('memberships as member')
        .leftJoin('install_grants as given', (join) =>
          join
            .onRef('given.account_id', '=', 'member.account_id')
            .onRef('given.user_id', '=', 'member.user_id'),
        )
        .leftJoin('installs as install', 'install.id', 'given.install_id')
        .select(['member.account_id', 'member.role', 'install.id as install_id', 'install.site_id'])
        .where('member.user_id', '=', parameter('userId'))
        .where('member.invite_accepted', '=', true),
    { memberships: ['user_id', 'userId'], install_grants: ['user_id', 'userId'], installs: 'any' },
  );
}
