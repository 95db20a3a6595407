import { sql } from 'kysely';
import { inScope, type Scope } from '../../../access/memberships.ts';
import type { Queries } from '../../../database/database.ts';

/** A LIKE pattern for values that contain a text, with wildcards escaped. */
export const patternOf = (text: string): string => `%${text.replaceAll(/[\\%_]/g, '\\$&')}%`;

/** Whether a column matches one of the patterns of {@link patternOf}. */
const holds = (column: 'install.name' | 'domain.name', patterns: readonly string[]) =>
  sql<boolean>`(${sql.join(
    patterns.map((pattern) => sql`${sql.ref(column)} like ${pattern} escape '\\'`),
    sql` or `,
  )})`;

/** Sorts exact matches first, then prefixes, then the others. */
const nearness = (column: 'install.name' | 'domain.name', patterns: readonly string[]) => {
  const is = (part: (pattern: string) => string) => holds(column, patterns.map(part));
  return sql<number>`case when ${is((pattern) => pattern.slice(1, -1))} then 0 when ${is((pattern) => pattern.slice(1))} then 1 else 2 end`;
};

const installsWithPlace = (queries: Queries, scope: Scope) =>
  queries
    .selectFrom('installs as install')
    .innerJoin('accounts as account', 'account.id', 'install.account_id')
    .leftJoin('sites as site', 'site.id', 'install.site_id')
    .select([
      'install.id',
      'install.name as install',
      'install.environment',
      'site.name as site',
      'install.account_id',
      'account.name as account_name',
    ])
    .where((eb) => inScope(eb, scope));

/** The installs of a scope whose names match one of the patterns, best matches first. */
export function installsNamed(queries: Queries, scope: Scope, patterns: readonly string[], most: number) {
  return installsWithPlace(queries, scope)
    .where(holds('install.name', patterns))
    .orderBy(nearness('install.name', patterns))
    .orderBy('install.name')
    .limit(most)
    .execute();
}

/** The matching domains of a scope's installs. A default domain is left out if its install is found itself. */
export function domainsNamed(queries: Queries, scope: Scope, patterns: readonly string[], most: number) {
  return installsWithPlace(queries, scope)
    .innerJoin('domains as domain', 'domain.install_id', 'install.id')
    .select('domain.name')
    .where(holds('domain.name', patterns))
    .where(({ eb, or, not }) => or([eb('domain.is_cname', '=', false), not(holds('install.name', patterns))]))
    .orderBy(nearness('domain.name', patterns))
    .orderBy('domain.name')
    .limit(most)
    .execute();
}

/** The names of some accounts, by id. */
export async function accountNames(queries: Queries, ids: readonly string[]): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map();
  const rows = await queries.selectFrom('accounts').select(['id', 'name']).where('id', 'in', ids).execute();
  return new Map(rows.map(({ id, name }) => [id, name]));
}
