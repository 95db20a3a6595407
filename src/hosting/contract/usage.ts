/** The most days of installs that one call returns. */
export const USAGE_PAGE = 1_000;
/** The largest daily count that the control plane accepts, so that no host can overflow a sum. A petabyte in bytes. */
export const LARGEST_COUNT = 2 ** 50;

/** The traffic of one install on one UTC day. All counts are totals of the day so far, never differences. */
export interface InstallDay {
  installId: string;
  /** `YYYY-MM-DD`, UTC. */
  day: string;
  /** Answered requests. */
  requests: number;
  /** Bytes sent to visitors: response heads and bodies, before TLS. */
  bytes: number;
  /** Different addresses, without bots. */
  visits: number;
  /** Left out without such requests, and by hosts that do not measure them. */
  pages?: PageCounts;
}

/** The requests of a day that asked the page cache. */
export interface PageCounts {
  requests: number;
  /** Answered from the cache. PHP ran for those that it confirmed, or renewed meanwhile. */
  hits: number;
  /** The times of all of them together, from the first byte of the request to the last of the answer. */
  milliseconds: number;
}

/** A position in a host's ledger. */
export interface UsageCursor {
  /** UUID. A host whose ledger was lost begins another one, and its counts add to those of the earlier one. */
  ledger: string;
  revision: number;
}

/** The days that changed after a cursor, in the order of their last change. */
export interface UsagePage extends UsageCursor {
  days: InstallDay[];
  /** Whether another call has more. */
  more: boolean;
}

/** A host's counts of the traffic of its installs. */
export interface UsageSource {
  /**
   * Returns days that changed after `since`. Reading is idempotent: a day that is read twice has the same or larger totals. A
   * cursor of another ledger, and null, start at the beginning.
   */
  readUsage(since: UsageCursor | null): Promise<UsagePage>;
}

/** Storage of an install. */
export interface MeasuredStorage {
  /** Files of the install, as its disk quota counts them. */
  fileBytes: number;
  /** Null on a host without databases. */
  database: MeasuredDatabase | null;
}

export interface MeasuredDatabase {
  /** Data and indexes. */
  bytes: number;
  /** Data without indexes. */
  dataBytes: number;
  tables: number;
  /** Options that WordPress loads with every request; null without a table of options. */
  autoloadedBytes: number | null;
}
