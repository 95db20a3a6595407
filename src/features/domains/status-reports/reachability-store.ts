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

/** Served domains, except those on an unreachable host, which could not answer a check. */
const served = (queries: Queries) =>
  queries
    .selectFrom('domains as domain')
    .innerJoin('installs as install', 'install.id', 'domain.install_id')
    .leftJoin('hosts as host', 'host.id', 'install.host_id')
    .where('install.status', '=', 'active')
    .where('host.reason', 'is', null)
    .where('domain.is_duplicate', '=', false)
    .where('domain.network_status', '=', 'ACTIVE');

export async function countMonitored(queries: Queries): Promise<number> {
  const { count } = await served(queries)
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return count;
}

/**
 * Served domains that were last checked before `before`, or before `failingBefore` if they were unreachable then; longest
 * ago first. A new domain counts as checked, because its owner is about to set its DNS.
 */
export async function domainsDueForCheck(
  queries: Queries,
  { before, failingBefore, limit }: { before: string; failingBefore: string; limit: number },
): Promise<MonitoredDomain[]> {
  return served(queries)
    .leftJoin('domain_looks as look', 'look.domain_id', 'domain.id')
    .select([
      'domain.id',
      'domain.name',
      'domain.install_id',
      'domain.reached',
      'install.name as install_name',
    ])
    .where((eb) => {
      const notSince = (time: string) =>
        eb.and([
          eb('domain.created_at', '<=', time),
          eb.or([eb('domain.checked_at', 'is', null), eb('domain.checked_at', '<=', time)]),
          eb.or([eb('look.looked_at', 'is', null), eb('look.looked_at', '<=', time)]),
        ]);
      return eb.or([notSince(before), eb.and([eb('domain.reached', '=', false), notSince(failingBefore)])]);
    })
    .orderBy('look.looked_at', (order) => order.asc().nullsFirst())
    .orderBy('domain.seq')
    .limit(limit)
    .execute();
}

/** Forgets that domains were unreachable, so that their checks are due. */
export async function forgetUnreachable(queries: Queries): Promise<void> {
  const unreached = queries.selectFrom('domains').select('id').where('reached', '=', false);
  await queries.deleteFrom('domain_looks').where('domain_id', 'in', unreached).execute();
  const unknown = { reached: null, checked_at: null };
  await queries.updateTable('domains').set(unknown).where('reached', '=', false).execute();
}

/** Records the time of a check. Does nothing if the domain has been deleted. */
export async function recordCheck(queries: Queries, domainId: string, lookedAt: string): Promise<void> {
  await queries
    .insertInto('domain_looks')
    .columns(['domain_id', 'looked_at'])
    .expression((eb) =>
      eb
        .selectFrom('domains')
        .select((of) => ['id', of.val(lookedAt).as('looked_at')])
        .where('id', '=', domainId),
    )
    .onConflict((conflict) => conflict.column('domain_id').doUpdateSet({ looked_at: lookedAt }))
    .execute();
}
