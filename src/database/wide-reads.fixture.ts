import type Sqlite from 'better-sqlite3';

/** Tables with rows for each website, domain, day or event. */
const GROWING = new Set([
  ...[
    'installs',
    'sites',
    'domains',
    'certificates',
    'operations',
    'activity',
    'events',
    'wordpress_readings',
    'site_tags',
    'site_sizes',
    'primary_domains',
  ],
  ...['usage_traffic', 'usage_storage', 'usage_installs', 'backups', 'uptime_incidents', 'notifications'],
  ...['jobs', 'domain_looks', 'certificate_attempts', 'wordpress_updates', 'wordpress_update_policies'],
  ...['install_quotas', 'deleted_installs'],
]);
/** Each of their values has many rows. */
const COMMON = new Set([
  ...['account_id', 'status', 'environment', 'user_id', 'day', 'kind', 'state', 'waiting_updates', 'key'],
]);
/** Indexes of rows that are few by their condition. */
const FEW =
  /INDEX (installs_(failed|lost|waiting)|backups_(aborted|deleting|for_copies|missing)|install_quotas_reached|domains_(unreached|failed|refused)|jobs_(failed|lane_order|due|lease|turns|behind)|jobs__lane|wordpress_updates_open)\b/;
/** Parts of queries that read few rows: the stored counts said so, or the ids of a page. */
const FEW_FIRST = /MATERIALIZE (few|placed)$/;

/** Rows that the stored counts say are few, from an index that has all columns of their filters: see `numberWithoutIndex`. */
const FEW_ENTRIES = / order by \+"/;

interface Step {
  id: number;
  parent: number;
  detail: string;
}

/**
 * The steps of a query that read all rows of a table, or of an account without a limit or to sort them. They take longer in a larger fleet
 * or account.
 */
export function wideReads(database: Sqlite.Database, query: string): string[] {
  const nothing = Array.from(query.matchAll(/\?/g), () => null);
  const steps = database
    .prepare<unknown[], Step>(`explain query plan ${query}`)
    .all(...nothing)
    .map((step) => ({ ...step, detail: step.detail.trim() }));
  const parents = new Map(steps.map((step) => [step.id, step]));
  const isAmongFew = ({ parent }: Step): boolean => {
    const above = parents.get(parent);
    return above !== undefined && (FEW_FIRST.test(above.detail) || isAmongFew(above));
  };
  const tablesOf = aliases(query);
  const isUnlimited = !query.includes(' limit ') || /^select count\((?!.* from \(select 1 )/.test(query);
  return steps.flatMap((step) => {
    const [, how, alias = '', rest = ''] = /^(SCAN|SEARCH) (\w+)(.*)$/.exec(step.detail) ?? [];
    const tables = tablesOf.get(alias) ?? [];
    if (how === undefined || isAmongFew(step) || FEW.test(rest)) return [];
    if (FEW_ENTRIES.test(query) && rest.includes('COVERING INDEX')) return [];
    if (!tables.some((table) => GROWING.has(table))) return [];
    // The rows of `few`, under the same name.
    if (how === 'SCAN')
      return rest === '' && tables.some((table) => !GROWING.has(table)) ? [] : [step.detail];
    const columns = [...(/\(([^)]*)\)/.exec(rest)?.[1] ?? '').matchAll(/(\w+)[=<>]/g)].map(
      ([, name = '']) => name,
    );
    // Rows that an index has in order are at most sorted among equal ones.
    const isSorted = steps.some(
      ({ parent, detail }) => parent === step.parent && /TEMP B-TREE(?! FOR LAST)/.test(detail),
    );
    // Read again for each row of the tables before it.
    const isRepeated = steps.some(
      ({ id, parent, detail }) => parent === step.parent && id < step.id && /^(SCAN|SEARCH) /.test(detail),
    );
    const isWide = columns.every((column) => COMMON.has(column));
    return isWide && (isUnlimited || isSorted || isRepeated) ? [step.detail] : [];
  });
}

/** The tables behind each name in a query. */
function aliases(query: string): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const [, table = '', alias = table] of query.matchAll(/(?:from|join|update) "(\w+)"(?: as "(\w+)")?/g))
    found.set(alias, [...(found.get(alias) ?? []), table]);
  return found;
}
