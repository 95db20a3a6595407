import Type, { type Static } from 'typebox';
import { closed, count, orNull, uuid } from './message-values.ts';

/** The most days of installs that one call returns. */
export const USAGE_PAGE = 1_000;
/** The largest daily count that the control plane accepts, so that no host can overflow a sum. A petabyte in bytes. */
export const LARGEST_COUNT = 2 ** 50;

/** Bounded, because the host may be compromised. */
const daily = Type.Integer({ minimum: 0, maximum: LARGEST_COUNT });

/** The requests of a day that asked the page cache. */
const PageCountsSchema = Type.Object({
  requests: daily,
  /** Answered from the cache. PHP ran for those that it confirmed, or renewed meanwhile. */
  hits: daily,
  /** The times of all of them together, from the first byte of the request to the last of the answer. */
  milliseconds: daily,
});
export type PageCounts = Static<typeof PageCountsSchema>;

/** The traffic of one install on one UTC day. All counts are totals of the day so far, never differences. */
const InstallDaySchema = Type.Object({
  installId: uuid,
  /** `YYYY-MM-DD`, UTC. */
  day: Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$' }),
  /** Answered requests. */
  requests: daily,
  /** Bytes sent to visitors: response heads and bodies, before TLS. */
  bytes: daily,
  /** Different addresses, without bots. */
  visits: daily,
  /** Left out without such requests, and by hosts that do not measure them. */
  pages: Type.Optional(PageCountsSchema),
});
export type InstallDay = Static<typeof InstallDaySchema>;

/** A position in a host's ledger. */
export const UsageCursorSchema = Type.Object(
  {
    /** A host whose ledger was lost begins another one, and its counts add to those of the earlier one. */
    ledger: uuid,
    revision: count,
  },
  closed,
);
export type UsageCursor = Static<typeof UsageCursorSchema>;

/** The days that changed after a cursor, in the order of their last change. */
export const UsagePageSchema = Type.Object({
  ...UsageCursorSchema.properties,
  days: Type.Array(InstallDaySchema, { maxItems: USAGE_PAGE }),
  /** Whether another call has more. */
  more: Type.Boolean(),
});
export type UsagePage = Static<typeof UsagePageSchema>;

/** A host's counts of the traffic of its installs. */
export interface UsageSource {
  /**
   * Returns days that changed after `since`. Reading is idempotent: a day that is read twice has the same or larger totals. A
   * cursor of another ledger, and null, start at the beginning.
   */
  readUsage(since: UsageCursor | null): Promise<UsagePage>;
}

const MeasuredDatabaseSchema = Type.Object({
  /** Data and indexes. */
  bytes: daily,
  /** Data without indexes. */
  dataBytes: daily,
  tables: daily,
  /** Options that WordPress loads with every request; null without a table of options. */
  autoloadedBytes: orNull(daily),
});
export type MeasuredDatabase = Static<typeof MeasuredDatabaseSchema>;

/** Storage of an install. */
export const MeasuredStorageSchema = Type.Object({
  /** Files of the install, as its disk quota counts them. */
  fileBytes: daily,
  /** Files and folders. Hosts of earlier versions omit this and the limits. */
  files: Type.Optional(daily),
  /** The limits of the files; null without a limit. */
  limits: Type.Optional(Type.Object({ bytes: orNull(daily), files: orNull(daily) })),
  /** Null on a host without databases. */
  database: orNull(MeasuredDatabaseSchema),
});
export type MeasuredStorage = Static<typeof MeasuredStorageSchema>;
