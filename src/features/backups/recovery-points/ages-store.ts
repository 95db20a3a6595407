import type { Queries } from '../../../database/database.ts';
import { installRanges } from '../../../database/install-ranges.ts';

/** How far the active installs of a host are covered by recovery points. Those that wait for a restore are left out. */
export interface RecoveryAges {
  host: string;
  /** Time up to which the changes of the least covered install are saved. Without a recovery point, its creation. */
  oldest: string;
  /** Installs that are covered until before a time. */
  late: number;
}

/** By host name, in ranges of all installs, so that no query takes long. `before`: the time until which a late install is covered. */
export async function recoveryAges(queries: Queries, before: string): Promise<RecoveryAges[]> {
  const hosts = new Map<string, RecoveryAges>();
  for await (const { after, to } of installRanges(queries)) {
    const rows = await queries
      .with('age', (db) =>
        db
          .selectFrom('installs as install')
          .innerJoin('hosts as host', 'host.id', 'install.host_id')
          .leftJoin('recovery_states as state', 'state.install_id', 'install.id')
          .select((eb) => [
            'host.name as host',
            eb.fn.coalesce('state.covered_at', 'install.created_at').as('covered_at'),
          ])
          .where('install.seq', '>', after)
          .where('install.seq', '<=', to)
          .where('install.status', '=', 'active')
          .where('install.lost_data', 'is', null),
      )
      .selectFrom('age')
      .select((eb) => [
        'host',
        eb.fn.min<string>('covered_at').as('oldest'),
        eb.fn.countAll<number | string>().filterWhere('covered_at', '<', before).as('late'),
      ])
      .groupBy('host')
      .execute();
    for (const { host, oldest, late } of rows) {
      const sum = hosts.get(host) ?? { host, oldest, late: 0 };
      sum.late += Number(late);
      if (oldest < sum.oldest) sum.oldest = oldest;
      hosts.set(host, sum);
    }
  }
  return [...hosts.values()];
}

/** An install that is late, and why, if its last recovery point failed. */
export interface LateInstall {
  name: string;
  reason: string | null;
}

/** The late installs, in the order of their creation. */
export async function lateInstalls(queries: Queries, before: string): Promise<LateInstall[]> {
  const late: LateInstall[] = [];
  for await (const { after, to } of installRanges(queries)) {
    const rows = await queries
      .selectFrom('installs as install')
      .leftJoin('recovery_states as state', 'state.install_id', 'install.id')
      .select(['install.name', 'state.reason'])
      .where('install.seq', '>', after)
      .where('install.seq', '<=', to)
      .where('install.status', '=', 'active')
      .where('install.lost_data', 'is', null)
      .where((eb) => eb(eb.fn.coalesce('state.covered_at', 'install.created_at'), '<', before))
      .orderBy('install.seq')
      .execute();
    late.push(...rows);
  }
  return late;
}
