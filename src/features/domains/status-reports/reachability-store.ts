import { setImmediate as nextTurn } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Queries } from '../../../database/database.ts';

/** A domain whose reachability is monitored. */
export interface MonitoredDomain {
  id: string;
  name: string;
  install_id: string;
  install_name: string;
  /** Result of the last check: whether visitors reached this platform; null if unknown. */
  reached: boolean | null;
}

/** The number of domains, but not more than `most`. */
export async function countDomains(queries: Queries, most: number): Promise<number> {
  const { count } = await queries
    .selectFrom((eb) => eb.selectFrom('domain_looks').select('domain_id').limit(most).as('some'))
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return count;
}

/** Domains that are read from the index of the longest ago checked ones, for each that is due. */
const READ_FOR_EACH = 10;
/** Domains that one query reads with what they belong to: some milliseconds, if nothing of them is in the cache. */
const READ_AT_ONCE = 150;

const withInstall = (queries: Queries) =>
  queries
    .selectFrom('domain_looks as look')
    .innerJoin('domains as domain', 'domain.id', 'look.domain_id')
    .innerJoin('installs as install', 'install.id', 'domain.install_id')
    .leftJoin('hosts as host', 'host.id', 'install.host_id')
    .select(['domain.id', 'domain.name', 'domain.install_id', 'domain.reached'])
    .select(['install.name as install_name', 'look.looked_at', 'domain.seq', 'domain.created_at'])
    .select(['domain.checked_at', 'domain.is_duplicate', 'domain.network_status'])
    .select(['install.status', 'host.reason']);

type Looked = Awaited<ReturnType<ReturnType<typeof withInstall>['execute']>>[number];

/** Whether visitors are served, except by an unreachable host, which could not answer a check. */
const isServed = ({ status, reason, is_duplicate, network_status }: Looked): boolean =>
  status === 'active' && reason === null && !is_duplicate && network_status === 'ACTIVE';

const isNotSince = ({ created_at, checked_at, looked_at }: Looked, time: string): boolean =>
  [created_at, checked_at ?? '', looked_at].every((at) => at <= time);

/** Domains in the order in which they were looked at, until `limit` of them are due. */
async function longestAgo(
  queries: Queries,
  { before, limit }: { before: string; limit: number },
  isDue: (one: Looked) => boolean,
): Promise<Looked[]> {
  const looks = await queries
    .selectFrom('domain_looks')
    .select('domain_id')
    .where('looked_at', '<=', before)
    .orderBy('looked_at')
    .limit(limit * READ_FOR_EACH)
    .execute();
  const read: Looked[] = [];
  let due = 0;
  for (let from = 0; from < looks.length && due < limit; from += READ_AT_ONCE, await nextTurn()) {
    const ids = looks.slice(from, from + READ_AT_ONCE).map(({ domain_id }) => domain_id);
    const rows = await withInstall(queries).where('look.domain_id', 'in', ids).execute();
    read.push(...rows);
    due += rows.filter(isDue).length;
  }
  return read;
}

/** Domains whose turn it is. */
export interface DueDomains {
  due: MonitoredDomain[];
  /** Those that need no check now, and when their turn counts from. Otherwise they would stay before the others. */
  postponed: { id: string; from: string }[];
}

/**
 * Served domains that were last checked before `before`, or before `failingBefore` if they were unreachable then; longest
 * ago first. A new domain counts as checked, because its owner is about to set its DNS. One that is not served comes again as if it had
 * been checked at `halfway`.
 */
export async function domainsDueForCheck(
  queries: Queries,
  {
    before,
    failingBefore,
    limit,
    halfway,
  }: { before: string; failingBefore: string; limit: number; halfway: string },
): Promise<DueDomains> {
  const isDue = (one: Looked) => isServed(one) && isNotSince(one, before);
  const [oldest, failing] = await Promise.all([
    longestAgo(queries, { before, limit }, isDue),
    // A literal, so that the databases use the index of these domains.
    withInstall(queries).where('domain.reached', '=', sql.lit(false)).execute(),
  ]);
  const due = new Map(
    [
      ...oldest.filter(isDue),
      ...failing.filter((one) => isServed(one) && isNotSince(one, failingBefore)),
    ].map((one) => [one.id, one]),
  );
  return {
    due: [...due.values()]
      .sort((one, other) => Date.parse(one.looked_at) - Date.parse(other.looked_at) || one.seq - other.seq)
      .slice(0, limit)
      .map(({ id, name, install_id, install_name, reached }) => ({
        id,
        name,
        install_id,
        install_name,
        reached,
      })),
    postponed: oldest
      .filter((one) => !isDue(one))
      .map((one) => ({ id: one.id, from: isServed(one) ? (one.checked_at ?? halfway) : halfway })),
  };
}

/** Forgets that domains were unreachable, so that their checks are due. */
export async function forgetUnreachable(queries: Queries): Promise<void> {
  const unreached = queries.selectFrom('domains').select('id').where('reached', '=', sql.lit(false));
  await queries
    .updateTable('domain_looks')
    .set({
      looked_at: sql<string>`(select created_at from domains where domains.id = domain_looks.domain_id)`,
    })
    .where('domain_id', 'in', unreached)
    .execute();
  const unknown = { reached: null, checked_at: null };
  await queries.updateTable('domains').set(unknown).where('reached', '=', sql.lit(false)).execute();
}

/** Records the time of a check, or with `wasChecked: false` from when its turn counts. Does nothing if the domain has been deleted. */
export async function recordCheck(
  queries: Queries,
  domainId: string,
  looked_at: string,
  { wasChecked }: { wasChecked: boolean },
): Promise<void> {
  await queries
    .updateTable('domain_looks')
    .set({ looked_at, was_checked: wasChecked })
    .where('domain_id', '=', domainId)
    .execute();
}
