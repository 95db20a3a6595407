import type { StorageDay, TrafficDay } from './store.ts';

/** The metrics of a day that have a rollup. */
export const TRAFFIC_METRICS = [
  'visit_count',
  'billable_visits',
  'request_origin_count',
  'network_origin_bytes',
  'network_cdn_bytes',
  'network_total_bytes',
] as const;
export const STORAGE_METRICS = [
  'storage_file_bytes',
  'storage_database_bytes',
  'database_tables_count',
  'database_sql_bytes',
  'autoloaded_bytes',
] as const;
export const METRICS = [...TRAFFIC_METRICS, ...STORAGE_METRICS];
export type Metric = (typeof METRICS)[number];
/** Null: not measured. */
export type Figures = Record<Metric, number | null>;

/** Requests that asked the page cache. Days alone have them; null: not measured. */
export interface PageFigures {
  page_request_count: number | null;
  page_cache_hit_count: number | null;
  /** Milliseconds of all of them together. */
  page_response_ms: number | null;
}

export interface DayFigures extends Figures, PageFigures {
  date: string;
  storage_update_time: string | null;
}

/** One metric over a range. */
export interface MetricRollup {
  average: string | null;
  /** Null for storage, which does not add up over days. */
  sum: string | null;
  latest: { date: string | null; value: string | null };
}
export type Rollup = Record<Metric, MetricRollup>;

/** Traffic as the metrics of the API. No CDN reports to Homeport, so its bytes are unknown, and the total is that of the edge. */
export function trafficFigures({
  requests,
  bytes,
  visits,
}: Pick<TrafficDay, 'requests' | 'bytes' | 'visits'>) {
  return {
    visit_count: visits,
    billable_visits: visits,
    request_origin_count: requests,
    network_origin_bytes: bytes,
    network_cdn_bytes: null,
    network_total_bytes: bytes,
  };
}

function pageFigures(day: TrafficDay | undefined): PageFigures {
  return {
    page_request_count: day?.page_requests ?? null,
    page_cache_hit_count: day?.page_hits ?? null,
    page_response_ms: day?.page_ms ?? null,
  };
}

export function storageFigures(
  day: Partial<Record<Exclude<keyof StorageDay, 'install_id' | 'day' | 'measured_at'>, number | null>>,
) {
  return {
    storage_file_bytes: day.file_bytes ?? null,
    storage_database_bytes: day.database_bytes ?? null,
    database_tables_count: day.tables_count ?? null,
    database_sql_bytes: day.data_bytes ?? null,
    autoloaded_bytes: day.autoloaded_bytes ?? null,
  };
}

const NO_TRAFFIC = { requests: 0, bytes: 0, visits: 0 };

/** The days with any figure, oldest first. A day without a request that was counted has zeros. */
export function daysOf(traffic: readonly TrafficDay[], storage: readonly StorageDay[]): DayFigures[] {
  const trafficOf = new Map(traffic.map((day) => [day.day, day]));
  const storageOf = new Map(storage.map((day) => [day.day, day]));
  return [...new Set([...trafficOf.keys(), ...storageOf.keys()])].sort().map((date) => {
    const stored = storageOf.get(date);
    return {
      date,
      ...trafficFigures(trafficOf.get(date) ?? NO_TRAFFIC),
      ...pageFigures(trafficOf.get(date)),
      ...storageFigures(stored ?? {}),
      storage_update_time: stored?.measured_at ?? null,
    };
  });
}

/** The rollup of days in order. */
export function rollupOf(days: readonly DayFigures[]): Rollup {
  return everyMetric((metric) => {
    const known = days.flatMap((day) => {
      const value = day[metric];
      return value === null ? [] : [{ date: day.date, value }];
    });
    const sum = known.reduce((total, { value }) => total + value, 0);
    const latest = known.at(-1);
    return {
      average: latest === undefined ? null : decimal(sum / known.length),
      sum: latest === undefined || isStorage(metric) ? null : decimal(sum),
      latest: { date: latest?.date ?? null, value: decimal(latest?.value ?? null) },
    };
  });
}

export function everyMetric<Value>(of: (metric: Metric) => Value): Record<Metric, Value> {
  return {
    visit_count: of('visit_count'),
    billable_visits: of('billable_visits'),
    request_origin_count: of('request_origin_count'),
    network_origin_bytes: of('network_origin_bytes'),
    network_cdn_bytes: of('network_cdn_bytes'),
    network_total_bytes: of('network_total_bytes'),
    storage_file_bytes: of('storage_file_bytes'),
    storage_database_bytes: of('storage_database_bytes'),
    database_tables_count: of('database_tables_count'),
    database_sql_bytes: of('database_sql_bytes'),
    autoloaded_bytes: of('autoloaded_bytes'),
  };
}

export function isStorage(metric: Metric): boolean {
  return STORAGE_METRICS.some((one) => one === metric);
}

/** A sum that is null without any known value. */
export function sumOf(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : known.reduce((total, value) => total + value, 0);
}

export function decimal(value: number): string;
export function decimal(value: number | null): string | null;
/** A whole number in decimal digits, of any size. */
export function decimal(value: number | null): string | null {
  return value === null ? null : BigInt(Math.round(value)).toString();
}
