import { type Expression, type ExpressionBuilder, type SqlBool, sql } from 'kysely';
import type { Database } from '../database/database.ts';
import type { JobClass } from '../database/tables/jobs.ts';
import type { Tables } from '../database/tables.ts';
import { deliverWebhook } from '../features/accounts/webhooks/jobs.ts';
import { lastRestoreCheck, unrestorable } from '../features/backups/restore-check-store.ts';
import { type Clock, timestamp } from '../lib/clock.ts';
import { DAY_MS, MINUTE_MS } from '../lib/durations.ts';
import { backupRecord } from '../platform-backup/runs-store.ts';

const WITHIN_DAYS = [14, 7, 1] as const;
/** The control plane asks each host every 30 seconds. */
const SEEN_WITHIN_MS = 3 * MINUTE_MS;

/** Figures of certificates, backups and jobs from the database, without customers' names. */
export interface Figures {
  /** Authority certificates that expire within `days` days although their renewal is due, including expired ones. */
  expiring: { days: number; count: number }[];
  /** Domains whose last certificate order failed. */
  failing: number;
  /** Installs whose last restore check failed. */
  unrestorable: number;
  /** The last restore check; null without one. */
  lastRestoreCheck: { at: Date; tookMs: number } | null;
  /** The last successful platform backup (null without one) and the number of failures since. */
  platformBackup: { last: { at: Date; bytes: number } | null; failures: number };
  /** Installs by status, of those that a list of installs shows. */
  installs: { status: string; installs: number }[];
  /** Active installs with updates. */
  outdated: number;
  /** Updates of WordPress, plugins and themes that were requested within a day and failed or were rolled back. */
  failedUpdates: number;
  /** Confirmed incidents that go on. */
  incidents: number;
  /** `id`: the host's id. `seen`: when it last answered; null if it never did. */
  hosts: { id: string; name: string; isUp: boolean; seen: Date | null }[];
  /** Those that are queued are due. Without jobs that deliver webhooks. */
  jobs: { class: JobClass; state: string; count: number }[];
}

export async function readFigures({ reader }: Pick<Database, 'reader'>, clock: Clock): Promise<Figures> {
  const issued = () =>
    reader
      .selectFrom('certificates as certificate')
      .innerJoin('domains as domain', 'domain.id', 'certificate.domain_id')
      .where('certificate.source', '=', 'LETS_ENCRYPT')
      .where('domain.is_duplicate', '=', false);
  /** Of states that have an index of their own. */
  const jobsByClass = (condition: (eb: ExpressionBuilder<Tables, 'jobs'>) => Expression<SqlBool>) =>
    reader
      .selectFrom('jobs')
      .select((eb) => ['class', 'state', eb.fn.countAll<number>().as('count')])
      .where(condition)
      // A receiver that is down lets its deliveries wait for days, which concerns its account alone.
      .where('kind', '<>', deliverWebhook.name)
      .groupBy(['class', 'state']);
  const expiringWithin = async (days: number) => {
    const { count } = await issued()
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .where('certificate.not_after', '<=', timestamp(clock, days * DAY_MS))
      // Certificates that are valid for a few days are below every threshold while they are new.
      .where((eb) =>
        eb.or([eb('certificate.renew_at', 'is', null), eb('certificate.renew_at', '<=', timestamp(clock))]),
      )
      .executeTakeFirstOrThrow();
    return { days, count };
  };
  const [
    expiring,
    failing,
    failed,
    lastCheck,
    platformBackup,
    [dueJobs, failedJobs],
    installs,
    incidents,
    hosts,
    failedUpdates,
  ] = await Promise.all([
    Promise.all(WITHIN_DAYS.map(expiringWithin)),
    reader
      .selectFrom('domains')
      .select((eb) => eb.fn.countAll<number>().as('count'))
      // A literal, so that the databases use the index of these domains.
      .where('ssl_status', '=', sql.lit('failed'))
      .where('is_duplicate', '=', false)
      .executeTakeFirstOrThrow(),
    unrestorable(reader),
    lastRestoreCheck(reader),
    backupRecord(reader),
    Promise.all([
      jobsByClass((eb) => eb('state', 'in', ['queued', 'running']))
        // A transfer waits for its answer for two weeks, and others for their next attempt.
        .where((eb) => eb.or([eb('state', '=', 'running'), eb('run_at', '<=', timestamp(clock))]))
        .execute(),
      jobsByClass((eb) => eb('state', '=', 'failed')).execute(),
    ]),
    reader
      .selectFrom('install_counts')
      .select((eb) => ['status', 'is_waiting', eb.fn.sum<number | string>('installs').as('installs')])
      .groupBy(['status', 'is_waiting'])
      .execute(),
    reader
      .selectFrom('uptime_incidents')
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .where('confirmed_at', 'is not', null)
      .where('ended_at', 'is', null)
      .executeTakeFirstOrThrow(),
    reader.selectFrom('hosts').select(['id', 'name', 'reason', 'seen_at']).execute(),
    reader
      .selectFrom('wordpress_updates')
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .where('created_at', '>=', timestamp(clock, -DAY_MS))
      .where('status', 'in', ['failed', 'rolled_back'])
      .executeTakeFirstOrThrow(),
  ]);
  const byStatus = Map.groupBy(installs, ({ status }) => status);
  return {
    expiring,
    failing: failing.count,
    unrestorable: failed.length,
    lastRestoreCheck:
      lastCheck === undefined ? null : { at: new Date(lastCheck.created_at), tookMs: lastCheck.took_ms },
    platformBackup: {
      last:
        platformBackup.last === null
          ? null
          : { at: new Date(platformBackup.last.finishedAt), bytes: platformBackup.last.bytes },
      failures: platformBackup.failuresSince,
    },
    jobs: [...dueJobs, ...failedJobs],
    installs: [...byStatus].map(([status, rows]) => ({ status, installs: sumOf(rows) })),
    outdated: sumOf(installs.filter((row) => row.status === 'active' && row.is_waiting)),
    incidents: incidents.count,
    failedUpdates: failedUpdates.count,
    hosts: hosts.map(({ id, name, reason, seen_at }) => ({
      id,
      name,
      // The reason of an earlier check stays if no process checks the hosts any more.
      isUp: reason === null && seen_at !== null && seen_at >= timestamp(clock, -SEEN_WITHIN_MS),
      seen: dateOf(seen_at),
    })),
  };
}

const dateOf = (time: string | null | undefined): Date | null => (time ? new Date(time) : null);

/** PostgreSQL sums as text. */
function sumOf(rows: readonly { installs: number | string }[]): number {
  return rows.reduce((sum, { installs }) => sum + Number(installs), 0);
}
