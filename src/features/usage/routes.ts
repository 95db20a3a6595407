import { dayParameter, type QueryValues, wholeParameter } from '../../api/query.ts';
import { emptyRoute, queryRoute, type Route, route } from '../../api/route.ts';
import { tagsParameter } from '../websites/site-tags/schema.ts';
import type { DayRange } from './days.ts';
import { type DayFigures, decimal, everyMetric } from './figures.ts';
import {
  accountLimitsSchema,
  accountUsageSchema,
  insightsSchema,
  installUsageSchema,
  rollupSchema,
} from './schema.ts';
import { type InstallUsage, MOST_INSTALLS, type UsageService } from './service.ts';

const DAYS = [
  dayParameter('first_date', 'first UTC day; by default 30 days in all'),
  dayParameter('last_date', 'last UTC day; by default today'),
] as const;

const PAGE = [
  wholeParameter(
    'limit',
    `installs in a page; over ${MOST_INSTALLS} counts as ${MOST_INSTALLS}`,
    MOST_INSTALLS,
  ),
  wholeParameter('offset', 'installs to skip', 0),
] as const;

const ERRORS = [400, 401, 403, 404, 429, 502, 503] as const;

export function usageRoutes(usage: UsageService): Route[] {
  const tag = 'Usage';
  return [
    route({
      method: 'GET',
      path: '/accounts/:account_id/limits',
      operationId: 'getAccountsLimits',
      summary: 'Get the limits of an account',
      description: 'Returns the limits that the operator has set for each month.',
      tag,
      errors: [400, 401, 403, 404, 429, 500, 502, 503],
      success: 200,
      response: accountLimitsSchema,
      handle: ({ caller, id }) => usage.limits(caller, id('account_id')),
    }),
    queryRoute({
      path: '/accounts/:account_id/usage',
      operationId: 'getAccountUsageMetrics',
      summary: 'Get the usage of the installs of an account',
      description:
        'Returns traffic and storage of each install by day, and over all days. A page may have fewer installs than `limit`, because it has at most 10,000 days.',
      tag,
      errors: [400, 401, 403, 404, 429],
      parameters: [
        ...DAYS,
        ...PAGE,
        tagsParameter('only installs whose site has all these tags, separated by commas'),
      ],
      response: accountUsageSchema,
      async handle({ caller, id, query }) {
        const page = { limit: Number(query.limit ?? MOST_INSTALLS), offset: Number(query.offset ?? 0) };
        const found = await usage.ofAccount(caller, id('account_id'), rangeIn(query), page, query.tags);
        return {
          environment_metrics: found.environments.map((one) => ({
            environment_name: one.name,
            ...presentUsage(one),
          })),
          total_size: found.count,
          next_page_token: found.nextOffset === null ? null : String(found.nextOffset),
          all_environments_included: found.isWhole,
          last_account_storage_refresh_time: found.lastRefreshAt,
          account_storage_refresh_expected_time: found.refreshExpectedAt,
        };
      },
    }),
    queryRoute({
      path: '/accounts/:account_id/usage/summary',
      operationId: 'getAccountUsageSummary',
      summary: 'Get the usage of an account',
      description: 'Returns every metric over all installs of the account.',
      tag,
      errors: ERRORS,
      parameters: DAYS,
      response: rollupSchema,
      handle: ({ caller, id, query, disconnected }) =>
        usage.summary(caller, id('account_id'), rangeIn(query), disconnected()),
    }),
    queryRoute({
      path: '/accounts/:account_id/usage/insights',
      operationId: 'getAccountUsageInsights',
      summary: 'Get the usage of an account by kinds of installs',
      description:
        'Returns every metric by environment and by type of site. Installs without an environment count in the total alone.',
      tag,
      errors: ERRORS,
      parameters: DAYS,
      response: insightsSchema,
      handle: ({ caller, id, query, disconnected }) =>
        usage.insights(caller, id('account_id'), rangeIn(query), disconnected()),
    }),
    emptyRoute({
      method: 'POST',
      path: '/accounts/:account_id/usage/refresh_disk_usage',
      operationId: 'refreshAccountDiskUsage',
      summary: 'Measure the storage of an account',
      description: 'Measures the storage of every install of the account that you see, within minutes.',
      tag,
      errors: [400, 401, 403, 404, 429, 500, 502, 503],
      handle: ({ caller, id }) => usage.refreshAccount(caller, id('account_id')),
    }),
    queryRoute({
      path: '/installs/:install_id/usage',
      operationId: 'getInstallUsageMetrics',
      summary: 'Get the usage of an install',
      description: 'Returns traffic and storage by day, and over all days.',
      tag,
      errors: [400, 401, 403, 404, 429, 503],
      parameters: DAYS,
      response: installUsageSchema,
      async handle({ caller, id, query }) {
        const found = await usage.ofInstall(caller, id('install_id'), rangeIn(query));
        return {
          install_name: found.name,
          ...presentUsage(found),
          limits: found.limits.map(({ limited, used, allowed }) => ({
            limited,
            used: decimal(used),
            limit: decimal(allowed),
          })),
        };
      },
    }),
    emptyRoute({
      method: 'POST',
      path: '/installs/:install_id/usage/refresh_disk_usage',
      operationId: 'refreshEnvironmentDiskUsage',
      summary: 'Measure the storage of an install',
      description: 'Measures the files and the database within minutes. One request every 300 seconds.',
      tag,
      errors: [400, 401, 403, 404, 429, 500, 502, 503],
      handle: ({ caller, id }) => usage.refreshInstall(caller, id('install_id')),
    }),
  ];
}

function rangeIn({ first_date, last_date }: QueryValues<'first_date' | 'last_date'>): Partial<DayRange> {
  return {
    ...(first_date === undefined ? {} : { first: first_date }),
    ...(last_date === undefined ? {} : { last: last_date }),
  };
}

function presentUsage({ days, rollup, refreshExpectedAt }: Omit<InstallUsage, 'name'>) {
  return {
    metrics: days.map(presentDay),
    metrics_rollup: rollup,
    storage_refresh_expected_time: refreshExpectedAt,
  };
}

function presentDay(day: DayFigures) {
  return {
    date: day.date,
    ...everyMetric((metric) => decimal(day[metric])),
    page_request_count: decimal(day.page_request_count),
    page_cache_hit_count: decimal(day.page_cache_hit_count),
    page_response_ms: decimal(day.page_response_ms),
    storage_update_time: day.storage_update_time,
    traffic_metrics_source: 'ONHOST' as const,
  };
}
