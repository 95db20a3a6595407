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

/**
 * Of a larger scope, the newest installs are searched, and names that begin with the text. Comparing each name takes seconds with a million
 * installs.
 */
export const MOST_SEARCHED = 10_000;
/** Names that begin with the text; the nearest of them are shown. */
const MOST_BEGINNING = 1_000;

const isLarge = ({ whole, installIds }: Scope): boolean =>
  installIds === null && whole.reduce((sum, { install_count }) => sum + install_count, 0) > MOST_SEARCHED;

/** Whether a name begins with one of the texts. An index finds them, because both databases compare names byte by byte. */
const begins = (column: 'install.name' | 'domain.name', texts: readonly string[]) =>
  sql<boolean>`(${sql.join(
    texts.map((text) => sql`(${sql.ref(column)} >= ${text} and ${sql.ref(column)} < ${`${text}\u{10ffff}`})`),
    sql` or `,
  )})`;

/** The newest installs of a scope. */
const newestInstalls = (queries: Queries, scope: Scope) =>
  queries
    .selectFrom('installs as install')
    .select(['install.id', 'install.seq'])
    .where((eb) => inScope(eb, scope))
    .orderBy('install.seq', 'desc')
    .limit(MOST_SEARCHED);

/** The installs of a large scope that are searched. */
const fewInstalls = (queries: Queries, scope: Scope, texts: readonly string[]) =>
  queries
    .selectFrom(newestInstalls(queries, scope).as('newest'))
    .select('newest.seq')
    .union(
      queries
        .selectFrom(
          queries
            .selectFrom('installs as install')
            .select('install.seq')
            .where((eb) => inScope(eb, scope))
            .where(begins('install.name', texts))
            .orderBy('install.name')
            .limit(MOST_BEGINNING)
            .as('beginning'),
        )
        .select('beginning.seq'),
    );

/** The domains of a large scope that are searched. */
const fewDomains = (queries: Queries, scope: Scope, texts: readonly string[]) =>
  queries
    .selectFrom(newestInstalls(queries, scope).as('newest'))
    .innerJoin('domains as domain', 'domain.install_id', 'newest.id')
    .select('domain.seq')
    .union(
      queries.selectFrom(beginningDomains(queries, scope, texts).as('beginning')).select('beginning.seq'),
    );

/**
 * The domains of a scope that begin with one of the texts. An index has the names of all accounts: of these, the first {@link MOST_SEARCHED}
 * are compared with the scope. SQLite would otherwise begin with all installs of the account, and look for the domains of each.
 */
const beginningDomains = (queries: Queries, scope: Scope, texts: readonly string[]) =>
  queries
    .with(
      (name) => name('named').materialized(),
      (named) =>
        named
          .selectFrom('domains as domain')
          .select(['domain.seq', 'domain.install_id', 'domain.name'])
          .where(begins('domain.name', texts))
          .orderBy('domain.name')
          .limit(MOST_SEARCHED),
    )
    .selectFrom('named')
    .crossJoin('installs as install')
    .whereRef('install.id', '=', 'named.install_id')
    .where((eb) => inScope(eb, scope))
    .select('named.seq')
    .orderBy('named.name')
    .limit(MOST_BEGINNING);

/** Reads these rows first: SQLite knows no numbers of rows, and would begin with those of the whole account. */
const fewOf = (queries: Queries, rows: ReturnType<typeof fewInstalls>) =>
  queries
    .with(
      (name) => name('searched').materialized(),
      () => rows,
    )
    .selectFrom('searched')
    .select('searched.seq');

const installsWithPlace = (queries: Queries) =>
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
    ]);

/** The installs of a scope whose names contain one of the texts, best matches first. */
export function installsNamed(queries: Queries, scope: Scope, texts: readonly string[], most: number) {
  const patterns = texts.map(patternOf);
  return installsWithPlace(queries)
    .where((eb) =>
      isLarge(scope)
        ? eb('install.seq', 'in', fewOf(queries, fewInstalls(queries, scope, texts)))
        : inScope(eb, scope),
    )
    .where(holds('install.name', patterns))
    .orderBy(nearness('install.name', patterns))
    .orderBy('install.name')
    .limit(most)
    .execute();
}

/** The domains of a scope that contain one of the texts. A default domain is left out if its install is found itself. */
export function domainsNamed(queries: Queries, scope: Scope, texts: readonly string[], most: number) {
  const patterns = texts.map(patternOf);
  return installsWithPlace(queries)
    .innerJoin('domains as domain', 'domain.install_id', 'install.id')
    .select('domain.name')
    .where((eb) =>
      isLarge(scope)
        ? eb('domain.seq', 'in', fewOf(queries, fewDomains(queries, scope, texts)))
        : inScope(eb, scope),
    )
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
