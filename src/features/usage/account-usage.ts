import type { Queries } from '../../database/database.ts';
import { allCounted, type Counted, type SiteType } from './counted-store.ts';
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
import {
  averageStorage,
  latestStorage,
  trafficByInstall,
  trafficOfAccount,
  type UsageScope,
} from './store.ts';

/**
 * The rollup over all installs. Storage is measured per install at different times, so its latest value adds the last measurement of
 * each install, and its average adds their averages.
 */
export async function accountRollup(queries: Queries, of: UsageScope, range: DayRange): Promise<Rollup> {
  const [traffic, averages, latest] = await Promise.all([
    trafficOfAccount(queries, of, range),
    averageStorage(queries, of, range),
    latestStorage(queries, of, range),
  ]);
  const days = traffic.map(({ day, ...counts }) => ({ day, figures: trafficFigures(counts) }));
  const meanFigures = averages.map(storageFigures);
  const lastFigures = latest.map(storageFigures);
  const lastDay =
    latest
      .map(({ day }) => day)
      .toSorted()
      .at(-1) ?? null;
  const storage = storageFigures({});

  return everyMetric((metric) => {
    if (isStorageKey(metric, storage)) {
      const value = sumOf(lastFigures.map((figures) => figures[metric]));
      return {
        average: decimal(sumOf(meanFigures.map((figures) => figures[metric]))),
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
): Promise<Record<Metric, Insight>> {
  const [installs, traffic, storage] = await Promise.all([
    allCounted(queries, of, range),
    trafficByInstall(queries, of, range),
    latestStorage(queries, of, range),
  ]);
  const trafficOf = new Map(traffic.map((row) => [row.install_id, row]));
  const storageOf = new Map(storage.map((row) => [row.install_id, row]));
  const counted = installs.map((install) => {
    const row = trafficOf.get(install.id);
    const figures: Figures = {
      ...(row === undefined
        ? everyMetric(() => null)
        : { ...everyMetric(() => null), ...trafficFigures(row) }),
      ...storageFigures(storageOf.get(install.id) ?? {}),
    };
    return { install, figures };
  });
  return everyMetric((metric) => {
    const total = (isMeant: (install: Counted) => boolean) =>
      decimal(sumOf(counted.filter(({ install }) => isMeant(install)).map(({ figures }) => figures[metric])));
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
