import { type Caller, OPERATOR } from '../../access/caller.ts';
import { findMembership, loadScope } from '../../access/memberships.ts';
import { authorize } from '../../access/permissions.ts';
import { RATE_LIMITS, type RateCounter, rateLimitKey } from '../../access/rate-limits.ts';
import { changeFor } from '../../access/request-transactions.ts';
import type { Queries } from '../../database/database.ts';
import type { Environment } from '../../database/tables/installs.ts';
import { hasUnfinishedJobs } from '../../jobs/lanes.ts';
import { timestamp } from '../../lib/clock.ts';
import { NotFound, RateLimited } from '../../lib/failures.ts';
import type { LongReads } from '../../platform/long-reads.ts';
import type { Platform } from '../../platform/platform.ts';
import { findAccount } from '../accounts/accounts/store.ts';
import { takeTurn } from '../websites/installs/operation-limits.ts';
import { findInstallAccess } from '../websites/installs/store.ts';
import { accountInsights, accountRollup, type Insight } from './account-usage.ts';
import { pageOfCounted } from './counted-store.ts';
import { type DayRange, lengthOf, nextMeasurement, rangeOf } from './days.ts';
import { type DayFigures, daysOf, decimal, type Metric, type Rollup, rollupOf } from './figures.ts';
import { findInstallQuotas, type InstallQuota } from './install-quotas-store.ts';
import { refreshLane, refreshStorage } from './jobs.ts';
import { type AccountLimits, findAccountLimits, putAccountLimits } from './limits-store.ts';
import {
  installIdsOf,
  lastMeasurement,
  refreshRequestedAt,
  storageDays,
  trafficDays,
  trafficOfAccount,
  type UsageScope,
} from './store.ts';

export type UsageService = ReturnType<typeof createUsageService>;

/** The refreshes that measure what the caller sees of an account; their own is the first. */
function lanesOf({ userId }: Caller, { accountId, isWhole }: UsageScope): [string, ...string[]] {
  return isWhole ? [accountId] : [`${accountId}:${userId}`, accountId];
}

/** The usage of one install. */
export interface InstallUsage {
  name: string;
  days: DayFigures[];
  rollup: Rollup;
  refreshExpectedAt: string;
}

export interface AccountUsagePage {
  environments: (InstallUsage & { environment: Environment | null })[];
  count: number;
  /** The offset of the next page; null on the last. */
  nextOffset: number | null;
  isWhole: boolean;
  lastRefreshAt: string | null;
  refreshExpectedAt: string;
}

/** The most installs of a page. */
export const MOST_INSTALLS = 1_000;
/** The most days of all installs of a page together, so that no answer grows beyond some megabytes. */
const MOST_DAYS = 10_000;
/** How long a requested refresh may take until users should expect its result, in milliseconds. */
const REFRESH_WITHIN_MS = 10 * 60_000;

export function createUsageService(
  { database, queue, activity, clock }: Pick<Platform, 'database' | 'queue' | 'activity' | 'clock'>,
  counter: RateCounter,
  longReads: LongReads,
) {
  const { reader } = database;

  /** Requires that the caller sees the account. Partial users, and credentials limited to installs, see those alone. */
  async function usageScope(reader: Queries, caller: Caller, accountId: string): Promise<UsageScope> {
    const member = await findMembership(reader, caller, accountId);
    authorize('account.read', 'account.read', { role: member?.role ?? null, own: false });
    const scope = await loadScope(reader, caller, accountId);
    return { accountId, scope, isWhole: scope.whole.length > 0 && scope.installIds === null };
  }

  /** When the storage is measured next: soon after a request, else at the daily time. */
  async function expectedRefresh(reader: Queries, lanes: readonly string[]): Promise<string> {
    const requested = await Promise.all(lanes.map((id) => refreshRequestedAt(reader, refreshLane(id))));
    const [first] = requested.filter((at) => at !== null).sort();
    if (first === undefined) return nextMeasurement(clock.now());
    return new Date(Date.parse(first) + REFRESH_WITHIN_MS).toISOString();
  }

  return {
    async limits(caller: Caller, accountId: string): Promise<AccountLimits> {
      await usageScope(reader, caller, accountId);
      return findAccountLimits(reader, accountId);
    },

    async ofInstall(
      caller: Caller,
      installId: string,
      asked: Partial<DayRange>,
    ): Promise<InstallUsage & { limits: InstallQuota[] }> {
      return database.snapshot(async (reader) => {
        const install = await findInstallAccess(reader, caller, installId);
        authorize('install.read', 'install.read', install);
        const range = rangeOf(asked, clock.now());
        const [traffic, storage, limits, refreshExpectedAt] = await Promise.all([
          trafficDays(reader, { installId }, range),
          storageDays(reader, { installId }, range),
          findInstallQuotas(reader, installId),
          expectedRefresh(reader, [installId, install.account_id]),
        ]);
        const days = daysOf(traffic, storage);
        return { name: install.name, days, rollup: rollupOf(days), refreshExpectedAt, limits };
      });
    },

    /** The usage of each install of an account; with `tags`, of those whose site has all of them. Throws NotFound, InvalidRequest. */
    async ofAccount(
      caller: Caller,
      accountId: string,
      asked: Partial<DayRange>,
      page: { limit: number; offset: number },
      tags?: string,
    ): Promise<AccountUsagePage> {
      return database.snapshot(async (reader) => {
        const of = await usageScope(reader, caller, accountId);
        const range = rangeOf(asked, clock.now());
        const limit = Math.min(
          page.limit,
          MOST_INSTALLS,
          Math.max(1, Math.floor(MOST_DAYS / lengthOf(range))),
        );
        const { count, installs } = await pageOfCounted(reader, of, range, { ...page, limit }, tags);
        const rows = { accountId, installIds: installs.map(({ id }) => id) };
        const [traffic, storage, lastRefreshAt, refreshExpectedAt] = await Promise.all([
          trafficDays(reader, rows, range),
          storageDays(reader, rows, range),
          lastMeasurement(reader, accountId),
          expectedRefresh(reader, lanesOf(caller, of)),
        ]);
        const trafficOf = Map.groupBy(traffic, (day) => day.install_id);
        const storageOf = Map.groupBy(storage, (day) => day.install_id);
        const next = page.offset + installs.length;
        return {
          environments: installs.map(({ id, name, environment }) => {
            const days = daysOf(trafficOf.get(id) ?? [], storageOf.get(id) ?? []);
            return { name, environment, days, rollup: rollupOf(days), refreshExpectedAt };
          }),
          count,
          nextOffset: installs.length > 0 && next < count ? next : null,
          isWhole: of.isWhole,
          lastRefreshAt,
          refreshExpectedAt,
        };
      });
    },

    /** The usage of all installs together. `gone` aborts when the client disconnects. Throws RateLimited. */
    async summary(
      caller: Caller,
      accountId: string,
      asked: Partial<DayRange>,
      gone: AbortSignal,
    ): Promise<Rollup> {
      const of = await usageScope(reader, caller, accountId);
      const range = rangeOf(asked, clock.now());
      return longReads.run(accountId, gone, (inTurn) => accountRollup(reader, of, range, inTurn));
    },

    /** The traffic of the last 30 days by day, of all installs that the caller sees together. */
    async daysOfAccount(
      caller: Caller,
      accountId: string,
    ): Promise<{ date: string; visit_count: string; network_total_bytes: string }[]> {
      const of = await usageScope(reader, caller, accountId);
      const days = await trafficOfAccount(reader, of, rangeOf({}, clock.now()));
      return days.map(({ day, visits, bytes }) => ({
        date: day,
        visit_count: decimal(visits),
        network_total_bytes: decimal(bytes),
      }));
    },

    async insights(
      caller: Caller,
      accountId: string,
      asked: Partial<DayRange>,
      gone: AbortSignal,
    ): Promise<Record<Metric, Insight>> {
      const of = await usageScope(reader, caller, accountId);
      const range = rangeOf(asked, clock.now());
      return longReads.run(accountId, gone, (inTurn) => accountInsights(reader, of, range, inTurn));
    },

    /** Measures the storage of an install soon. Throws RateLimited. */
    async refreshInstall(caller: Caller, installId: string): Promise<void> {
      await changeFor(database, caller, async (transaction) => {
        const install = await findInstallAccess(transaction.queries, caller, installId);
        authorize('install.work', 'install.read', install);
        await takeTurn(transaction, installId, 'refresh_storage', clock.now());
        await queue.enqueue(transaction, refreshStorage, {
          payload: { install_ids: [installId] },
          lane: refreshLane(installId),
          install: installId,
          requestId: caller.origin.requestId,
        });
      });
    },

    /** Measures the storage of the installs of an account that the caller sees. Throws RateLimited. */
    async refreshAccount(caller: Caller, accountId: string): Promise<void> {
      const of = await usageScope(reader, caller, accountId);
      const { size, windowSeconds } = RATE_LIMITS.storageRefreshes;
      const key = rateLimitKey(RATE_LIMITS.storageRefreshes, caller.userId, accountId);
      const { allowed, resetSeconds } = await counter.spend(key, size, windowSeconds);
      if (!allowed) {
        throw new RateLimited(
          resetSeconds,
          `The storage of an account can be measured ${size} times an hour`,
        );
      }
      const installIds = await installIdsOf(reader, of);
      const lane = refreshLane(lanesOf(caller, of)[0]);
      await changeFor(database, caller, async (transaction) => {
        // A refresh in progress measures the same installs.
        if (installIds.length === 0 || (await hasUnfinishedJobs(transaction.queries, lane))) return;
        await queue.enqueue(transaction, refreshStorage, {
          payload: { install_ids: installIds },
          lane,
          account: accountId,
          requestId: caller.origin.requestId,
        });
      });
    },

    /** For the command line. */
    limitsOf: (accountId: string): Promise<AccountLimits> => findAccountLimits(reader, accountId),

    /** For the command line: fields that are left out stay. Throws NotFound. */
    setLimits: (accountId: string, change: Partial<AccountLimits>): Promise<AccountLimits> =>
      database.write(async (transaction) => {
        const { queries } = transaction;
        const account = await findAccount(queries, accountId);
        if (!account) throw new NotFound();
        const limits = { ...(await findAccountLimits(queries, accountId)), ...change };
        await putAccountLimits(queries, accountId, limits, timestamp(clock));
        await activity.record(transaction, OPERATOR, accountId, {
          action: 'account.limit',
          subject: { id: accountId, name: account.name },
          details: { ...limits },
        });
        return limits;
      }),
  };
}
