import { type Expression, type InferResult, type Insertable, sql } from 'kysely';
import { type Caller, countsOpenInvitations } from '../../../access/caller.ts';
import { limitedAccess } from '../../../access/limits.ts';
import { inScope, type Scope } from '../../../access/memberships.ts';
import type { ResourceAccess } from '../../../access/permissions.ts';
import type { Database, Queries, Transaction } from '../../../database/database.ts';
import type { ChangedInstall, Environment } from '../../../database/tables/installs.ts';
import type { Tables } from '../../../database/tables.ts';
import type { Role } from '../../../lib/roles.ts';
import { ANSWERED_COLUMNS, SETTING_COLUMNS } from './fields.ts';

/** An install as the API presents it. */
export type InstallView = InferResult<ReturnType<typeof withPrimaryDomain>>[number];

const COLUMNS = [
  ...([
    'install.id',
    'install.name',
    'install.account_id',
    'install.site_id',
    'install.environment',
  ] as const),
  ...(['install.status', 'install.stable_ips', 'install.created_at'] as const),
  ...ANSWERED_COLUMNS,
] as const;

/** Installs with their primary domain. `is_primary` is written so that the planner uses its partial index. */
export const withPrimaryDomain = (queries: Queries) =>
  queries
    .selectFrom('installs as install')
    .leftJoin('domains as domain', (join) =>
      join.onRef('domain.install_id', '=', 'install.id').on(sql<boolean>`domain.is_primary`),
    )
    .select([...COLUMNS, 'domain.name as primary_domain']);

export interface SeenInstall extends ResourceAccess {
  /** The same object until one of its rows changes, if the database keeps answers. Must not be changed. */
  install: Readonly<InstallView>;
}

/** Finds one install with the caller's access to it. Compiled once, because most requests run it. */
export function prepareFindInstall(database: Database) {
  const find = database.prepare<{ id: string; user: string }, InstallView & FoundMembership>(
    (queries, parameter) => seenInstall(queries, parameter('id'), parameter('user')),
    {
      installs: ['id', 'id'],
      domains: ['install_id', 'id'],
      memberships: ['user_id', 'user'],
      install_grants: ['user_id', 'user'],
    },
  );
  return async (id: string, caller: Caller): Promise<SeenInstall | undefined> => {
    const [row] = await (caller.within === undefined
      ? find({ id, user: caller.userId })
      : seenInstall(caller.within, sql.val(id), sql.val(caller.userId)).execute());
    return row && { install: row, ...accessOf(caller, row) };
  };
}

const seenInstall = (queries: Queries, id: Expression<string>, user: Expression<string>) =>
  withPrimaryDomain(queries)
    .leftJoin('memberships as member', (join) =>
      join.onRef('member.account_id', '=', 'install.account_id').on('member.user_id', '=', user),
    )
    .leftJoin('install_grants as given', (join) =>
      join.onRef('given.install_id', '=', 'install.id').on('given.user_id', '=', user),
    )
    .select(['member.role', 'member.invite_accepted', 'given.install_id as granted'])
    .where('install.id', '=', id);

/** The caller's membership, as the queries of this file select it. */
export interface FoundMembership {
  role: Role | null;
  invite_accepted: boolean | null;
  granted: string | null;
}

/** The caller's access to the install of a row of those queries. */
function accessOf(
  caller: Caller,
  row: Readonly<FoundMembership & { id: string; account_id: string }>,
): ResourceAccess {
  if (caller.isOperator) return { role: 'owner', own: false };
  const counts = row.invite_accepted === true || countsOpenInvitations(caller);
  return limitedAccess(caller.limits, { role: counts ? row.role : null, own: row.granted !== null }, row);
}

/** Finds an install with the caller's access to it, inside a transaction. */
export async function findInstallAccess(
  queries: Queries,
  caller: Caller,
  installId: string,
): Promise<
  | (ResourceAccess & {
      id: string;
      name: string;
      account_id: string;
      site_id: string | null;
      environment: Environment | null;
    })
  | undefined
> {
  const row = await queries
    .selectFrom('installs as install')
    .leftJoin('memberships as member', (join) =>
      join.onRef('member.account_id', '=', 'install.account_id').on('member.user_id', '=', caller.userId),
    )
    .leftJoin('install_grants as given', (join) =>
      join.onRef('given.install_id', '=', 'install.id').on('given.user_id', '=', caller.userId),
    )
    .select([
      'install.id',
      'install.name',
      'install.account_id',
      'install.site_id',
      'install.environment',
      'member.role',
      'member.invite_accepted',
      'given.install_id as granted',
    ])
    .where('install.id', '=', installId)
    .executeTakeFirst();
  return row && { ...row, ...accessOf(caller, row) };
}

/** Finds a site of the account. */
export function findSiteOfAccount(
  queries: Queries,
  siteId: string,
  accountId: string,
): Promise<{ name: string } | undefined> {
  return queries
    .selectFrom('sites')
    .select('name')
    .where('id', '=', siteId)
    .where('account_id', '=', accountId)
    .executeTakeFirst();
}

/** Whether an environment of a site has an install. */
export async function isSlotTaken(
  queries: Queries,
  siteId: string,
  environment: Environment,
): Promise<boolean> {
  const install = await queries
    .selectFrom('installs')
    .select('id')
    .where('site_id', '=', siteId)
    .where('environment', '=', environment)
    .executeTakeFirst();
  return install !== undefined;
}

/** An install as its site lists it. */
export interface SiteInstall {
  id: string;
  name: string;
  site_id: string | null;
  environment: Environment | null;
  php_version: string | null;
}

/** The installs of some sites. They are read first: SQLite would begin with all installs of the account. */
export const inSites = (queries: Queries, siteIds: readonly string[]) =>
  queries
    .with(
      (name) => name('placed').materialized(),
      (placed) => placed.selectFrom('installs').selectAll().where('site_id', 'in', siteIds),
    )
    .selectFrom('placed as install');

/** The installs of some sites that are in a scope, oldest first. */
export async function installsOfSites(
  queries: Queries,
  scope: Scope,
  siteIds: string[],
): Promise<SiteInstall[]> {
  if (siteIds.length === 0) return [];
  return inSites(queries, siteIds)
    .select(['install.id', 'install.name', 'install.site_id', 'install.environment', 'install.php_version'])
    .where((eb) => inScope(eb, scope))
    .orderBy('install.seq')
    .execute();
}

/**
 * Locks the installs of a site until the commit, oldest first. Installs that another request deletes or moves are left
 * out.
 */
export async function holdInstallsOfSite(
  { dialect, queries }: Transaction,
  siteId: string,
): Promise<{ id: string; name: string; account_id: string }[]> {
  return queries
    .selectFrom('installs')
    .select(['id', 'name', 'account_id'])
    .where('site_id', '=', siteId)
    .orderBy('seq')
    .$if(dialect === 'postgres', (query) => query.forUpdate())
    .execute();
}

export async function insertInstall(
  queries: Queries,
  install: Insertable<Tables['installs']>,
): Promise<void> {
  await queries.insertInto('installs').values(install).execute();
}

/** The settings of an install. It must exist. */
export const findSettings = (queries: Queries, id: string) =>
  queries
    .selectFrom('installs as install')
    .select([...SETTING_COLUMNS])
    .where('install.id', '=', id)
    .executeTakeFirstOrThrow();

export async function updateInstall(queries: Queries, id: string, change: ChangedInstall): Promise<void> {
  await queries.updateTable('installs').set(change).where('id', '=', id).execute();
}

/** Changes the stored install count of an account. */
export async function addToInstallCount(
  queries: Queries,
  accountId: string,
  difference: number,
): Promise<void> {
  await queries
    .updateTable('accounts')
    .set((eb) => ({ install_count: eb('install_count', '+', difference) }))
    .where('id', '=', accountId)
    .execute();
}

/** Adds the default domain of a new install, at first its primary domain. */
export async function insertDefaultDomain(
  queries: Queries,
  domain: { id: string; install_id: string; name: string; created_at: string },
): Promise<void> {
  await queries
    .insertInto('domains')
    .values({
      ...domain,
      is_cname: true,
      is_primary: true,
      is_duplicate: false,
      redirect_to_id: null,
      ssl_status: 'pending',
    })
    .execute();
}
