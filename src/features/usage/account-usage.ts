import type { Queries } from '../../database/database.ts';
import type { InTurn } from '../../platform/long-reads.ts';
import type { SiteType } from './counted-store.ts';
import type { DayRange } from './days.ts';
import {
  decimal,
  everyMetric,
  type Figures,
  type Metric,
  type Rollup,
  storageFigures,
  sumOf,
  trafficFigures,
} from './figures.ts';
import { trafficOfAccount, type UsageScope } from './store.ts';
import {
  averagesOfPart,
  type Kind,
  latestOfPart,
  partsOf,
  type StorageSums,
  trafficOfPart,
} from './sums-store.ts';

function added(sums: readonly StorageSums[]): StorageSums {
  const sum = (column: keyof StorageSums) => sumOf(sums.map((one) => one[column]));
  return {
    file_bytes: sum('file_bytes'),
    database_bytes: sum('database_bytes'),
    data_bytes: sum('data_bytes'),
    tables_count: sum('tables_count'),
    autoloaded_bytes: sum('autoloaded_bytes'),
  };
}

/**
 * The rollup over all installs. Storage is measured per install at different times, so its latest value adds the last measurement of
 * each install, and its average adds their averages.
 */
export async function accountRollup(
  queries: Queries,
  of: UsageScope,
  range: DayRange,
  inTurn: InTurn,
): Promise<Rollup> {
  const traffic = await trafficOfAccount(queries, of, range);
  const days = traffic.map(({ day, ...counts }) => ({ day, figures: trafficFigures(counts) }));
  const averages: StorageSums[] = [];
  const latest: (StorageSums & { last_day: string })[] = [];
  for await (const part of partsOf(queries, of)) {
    await inTurn(async () => {
      averages.push(await averagesOfPart(queries, of, part, range));
      latest.push(...(await latestOfPart(queries, of, part, range, false)));
    });
  }
  const meanFigures = storageFigures(added(averages));
  const lastFigures = storageFigures(added(latest));
  const lastDay =
    latest
      .map(({ last_day }) => last_day)
      .toSorted()
      .at(-1) ?? null;
  const storage = storageFigures({});

  return everyMetric((metric) => {
    if (isStorageKey(metric, storage)) {
      const value = lastFigures[metric];
      return {
        average: decimal(meanFigures[metric]),
        sum: null,
        latest: { date: value === null ? null : lastDay, value: decimal(value) },
      };
    }
    const known = days.filter(({ figures }) => figures[metric] !== null);
    const sum = sumOf(known.map(({ figures }) => figures[metric]));
    const newest = known.at(-1);
    return {
      average: sum === null ? null : decimal(sum / known.length),
      sum: decimal(sum),
      latest: { date: newest?.day ?? null, value: decimal(newest?.figures[metric] ?? null) },
    };
  });
}

type StorageMetric = keyof ReturnType<typeof storageFigures>;

function isStorageKey(metric: Metric, storage: Record<StorageMetric, unknown>): metric is StorageMetric {
  return metric in storage;
}

/** A metric over all installs, and by the kinds of installs. */
export interface Insight {
  total: string | null;
  environment_types: Record<'production' | 'staging' | 'development', string | null>;
  site_types: Record<SiteType, string | null>;
}

/** Sums of traffic over the range, and the last measurements of storage. */
export async function accountInsights(
  queries: Queries,
  of: UsageScope,
  range: DayRange,
  inTurn: InTurn,
): Promise<Record<Metric, Insight>> {
  const found: (Kind & { figures: Figures })[] = [];
  const nothing = everyMetric(() => null);
  for await (const part of partsOf(queries, of)) {
    await inTurn(async () => {
      for (const row of await trafficOfPart(queries, of, part, range))
        found.push({ ...row, figures: { ...nothing, ...trafficFigures(row) } });
      for (const row of await latestOfPart(queries, of, part, range, true))
        found.push({ ...row, figures: { ...nothing, ...storageFigures(row) } });
    });
  }
  return everyMetric((metric) => {
    const total = (isMeant: (kind: Kind) => boolean) =>
      decimal(sumOf(found.filter(isMeant).map(({ figures }) => figures[metric])));
    return {
      total: total(() => true),
      environment_types: {
        production: total(({ environment }) => environment === 'production'),
        staging: total(({ environment }) => environment === 'staging'),
        development: total(({ environment }) => environment === 'development'),
      },
      site_types: {
        standard: total(({ site_type }) => site_type === 'standard'),
        transferable: total(({ site_type }) => site_type === 'transferable'),
        sandbox: total(({ site_type }) => site_type === 'sandbox'),
      },
    };
  });
}
