import { component, nullableString, stringEnum, Type } from '../../api/schema.ts';

const EXAMPLE_DAY = '2026-01-31';
const EXAMPLE_TIME = '2026-01-31T02:29:14.000Z';

const count = (description: string) => nullableString(`${description}; decimal digits`);

const metrics = {
  visit_count: count('different addresses, without bots'),
  billable_visits: count('equal to visit_count'),
  request_origin_count: count('requests that the edge answered'),
  network_origin_bytes: count('bytes that the edge sent to visitors'),
  network_cdn_bytes: count('bytes that a CDN sent to visitors; null: not measured'),
  network_total_bytes: count('bytes sent to visitors'),
  storage_file_bytes: count('size of the files'),
  storage_database_bytes: count('size of the database with its indexes'),
  database_tables_count: count('tables of the database'),
  database_sql_bytes: count('size of the data in the database, without indexes'),
  autoloaded_bytes: count('options that WordPress loads with every request'),
};

const metricExamples = {
  visit_count: '1204',
  billable_visits: '1204',
  request_origin_count: '48211',
  network_origin_bytes: '912345678',
  network_cdn_bytes: null,
  network_total_bytes: '912345678',
  storage_file_bytes: '734003200',
  storage_database_bytes: '52428800',
  database_tables_count: '12',
  database_sql_bytes: '41943040',
  autoloaded_bytes: '183500',
};

const pageExamples = {
  page_request_count: '9120',
  page_cache_hit_count: '7752',
  page_response_ms: '820800',
};

const date = (description: string) => Type.String({ format: 'date', description });
const nullableDate = (description: string) =>
  Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'date', description });
const nullableTime = (description: string) =>
  Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'date-time', description });

const daySchema = component(
  'UsageDay',
  Type.Object(
    {
      date: date('the UTC day'),
      ...metrics,
      page_request_count: count(
        'an addition of Homeport: requests that asked the page cache; null: not measured',
      ),
      page_cache_hit_count: count('an addition of Homeport: those that the page cache answered'),
      page_response_ms: count(
        'an addition of Homeport: milliseconds that they took together, until the last byte was sent',
      ),
      storage_update_time: nullableTime('when the storage was measured'),
      traffic_metrics_source: stringEnum(['ONHOST'], 'the edge counts requests, without JavaScript'),
    },
    { description: 'Traffic and storage of an install on one UTC day' },
  ),
  {
    date: EXAMPLE_DAY,
    ...metricExamples,
    ...pageExamples,
    storage_update_time: EXAMPLE_TIME,
    traffic_metrics_source: 'ONHOST',
  },
);

const metricRollupExample = {
  average: '1187',
  sum: '35610',
  latest: { date: EXAMPLE_DAY, value: '1204' },
};

const metricRollupSchema = component(
  'UsageMetricRollup',
  Type.Object(
    {
      average: count('average of the days'),
      sum: count('sum of the days; null for storage'),
      latest: component(
        'UsageLatest',
        Type.Object(
          { date: nullableDate('the last day with a value'), value: count('the value of that day') },
          { description: 'The last value of a metric; null without any' },
        ),
        metricRollupExample.latest,
      ),
    },
    { description: 'One metric over all days' },
  ),
  metricRollupExample,
);

const rollupExample = {
  visit_count: metricRollupExample,
  billable_visits: metricRollupExample,
  request_origin_count: metricRollupExample,
  network_origin_bytes: metricRollupExample,
  network_cdn_bytes: { average: null, sum: null, latest: { date: null, value: null } },
  network_total_bytes: metricRollupExample,
  storage_file_bytes: metricRollupExample,
  storage_database_bytes: metricRollupExample,
  database_tables_count: metricRollupExample,
  database_sql_bytes: metricRollupExample,
  autoloaded_bytes: metricRollupExample,
};

export const rollupSchema = component(
  'UsageRollup',
  Type.Object(
    {
      visit_count: metricRollupSchema,
      billable_visits: metricRollupSchema,
      request_origin_count: metricRollupSchema,
      network_origin_bytes: metricRollupSchema,
      network_cdn_bytes: metricRollupSchema,
      network_total_bytes: metricRollupSchema,
      storage_file_bytes: metricRollupSchema,
      storage_database_bytes: metricRollupSchema,
      database_tables_count: metricRollupSchema,
      database_sql_bytes: metricRollupSchema,
      autoloaded_bytes: metricRollupSchema,
    },
    { description: 'Every metric over a range of days' },
  ),
  rollupExample,
);

const refreshExpected = nullableTime('when the storage is measured next, at the latest');

const dayExample = {
  date: EXAMPLE_DAY,
  ...metricExamples,
  ...pageExamples,
  storage_update_time: EXAMPLE_TIME,
  traffic_metrics_source: 'ONHOST' as const,
};

const usageExample = {
  metrics: [dayExample],
  metrics_rollup: rollupExample,
  storage_refresh_expected_time: '2026-02-01T02:29:00.000Z',
};

const installLimitExample = { limited: 'disk' as const, used: '734003200', limit: '53687091200' };

const installLimitSchema = component(
  'InstallLimit',
  Type.Object(
    {
      limited: stringEnum(
        ['disk', 'files'],
        '`disk`: bytes of the files; `files`: number of files and folders',
      ),
      used: Type.String({ description: 'as last measured; decimal digits' }),
      limit: Type.String({ description: 'decimal digits' }),
    },
    { description: 'How far an install has used a limit of its files' },
  ),
  installLimitExample,
);

export const installUsageSchema = component(
  'InstallUsage',
  Type.Object(
    {
      install_name: Type.String(),
      metrics: Type.Array(daySchema, { description: 'the days with any figure, oldest first' }),
      metrics_rollup: rollupSchema,
      storage_refresh_expected_time: refreshExpected,
      limits: Type.Array(installLimitSchema, {
        description:
          'an addition of Homeport: the limits of its files; empty without any, and before a measurement',
      }),
    },
    { description: 'The usage of an install' },
  ),
  { install_name: 'shop', ...usageExample, limits: [installLimitExample] },
);

const environmentUsageSchema = component(
  'EnvironmentUsage',
  Type.Object(
    {
      environment_name: Type.String({ description: 'the name of the install' }),
      metrics: Type.Array(daySchema, { description: 'the days with any figure, oldest first' }),
      metrics_rollup: rollupSchema,
      storage_refresh_expected_time: refreshExpected,
    },
    { description: 'The usage of one install of an account' },
  ),
  { environment_name: 'shop', ...usageExample },
);

export const accountUsageSchema = component(
  'AccountUsage',
  Type.Object(
    {
      environment_metrics: Type.Array(environmentUsageSchema),
      total_size: Type.Integer({ description: 'installs on all pages' }),
      next_page_token: nullableString('the `offset` of the next page; null on the last'),
      all_environments_included: Type.Boolean({
        description: 'false if the caller sees a part of the account only',
      }),
      last_account_storage_refresh_time: nullableTime('when storage was last measured'),
      account_storage_refresh_expected_time: refreshExpected,
    },
    { description: 'The usage of the installs of an account' },
  ),
  {
    environment_metrics: [{ environment_name: 'shop', ...usageExample }],
    total_size: 1,
    next_page_token: null,
    all_environments_included: true,
    last_account_storage_refresh_time: EXAMPLE_TIME,
    account_storage_refresh_expected_time: '2026-02-01T02:29:00.000Z',
  },
);

const insightExample = {
  total: '35610',
  environment_types: { production: '34000', staging: '1600', development: '10' },
  site_types: { standard: '35610', transferable: null, sandbox: null },
};

const insightSchema = component(
  'UsageInsight',
  Type.Object(
    {
      total: count('over all installs'),
      environment_types: component(
        'UsageByEnvironment',
        Type.Object(
          {
            production: count('production installs'),
            staging: count('staging installs'),
            development: count('development installs'),
          },
          { description: 'A metric by the environment of the installs' },
        ),
        insightExample.environment_types,
      ),
      site_types: component(
        'UsageBySiteType',
        Type.Object(
          {
            standard: count('standard sites'),
            transferable: count('transferable sites'),
            sandbox: count('sandbox sites'),
          },
          { description: 'A metric by the type of the sites' },
        ),
        insightExample.site_types,
      ),
    },
    { description: 'One metric: a sum of traffic, or the last measurement of storage' },
  ),
  insightExample,
);

export const insightsSchema = component(
  'UsageInsights',
  Type.Object(
    {
      visit_count: insightSchema,
      billable_visits: insightSchema,
      request_origin_count: insightSchema,
      network_origin_bytes: insightSchema,
      network_cdn_bytes: insightSchema,
      network_total_bytes: insightSchema,
      storage_file_bytes: insightSchema,
      storage_database_bytes: insightSchema,
      database_tables_count: insightSchema,
      database_sql_bytes: insightSchema,
      autoloaded_bytes: insightSchema,
    },
    { description: 'Every metric by the kinds of installs' },
  ),
  {
    visit_count: insightExample,
    billable_visits: insightExample,
    request_origin_count: insightExample,
    network_origin_bytes: insightExample,
    network_cdn_bytes: {
      total: null,
      environment_types: { production: null, staging: null, development: null },
      site_types: { standard: null, transferable: null, sandbox: null },
    },
    network_total_bytes: insightExample,
    storage_file_bytes: insightExample,
    storage_database_bytes: insightExample,
    database_tables_count: insightExample,
    database_sql_bytes: insightExample,
    autoloaded_bytes: insightExample,
  },
);

const nullableInteger = (description: string) =>
  Type.Unsafe<number | null>({ type: ['integer', 'null'], description });

export const accountLimitsSchema = component(
  'AccountLimits',
  Type.Object(
    {
      visitors: nullableInteger('visits a month'),
      storage: nullableInteger('bytes'),
      bandwidth: nullableInteger('bytes a month'),
    },
    { description: 'The limits of an account, set by the operator; null without a limit' },
  ),
  { visitors: 25_000, storage: 21_474_836_480, bandwidth: null },
);
