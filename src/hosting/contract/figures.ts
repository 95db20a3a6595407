import Type, { type Static } from 'typebox';
import { count, orNull } from './message-values.ts';

/** The classes of the statuses of answers. `none`: the visitor left before an answer. */
export const STATUS_CLASSES = ['2xx', '3xx', '4xx', '5xx', 'none'] as const;
export type StatusClass = (typeof STATUS_CLASSES)[number];

const EdgeFiguresSchema = Type.Object({
  answers: Type.Object({ '2xx': count, '3xx': count, '4xx': count, '5xx': count, none: count }),
  /** Bytes sent to visitors, before TLS. */
  bytes: count,
  /** Requests that asked the page cache, and those of them that it answered. */
  cacheRequests: count,
  cacheHits: count,
});
export type EdgeFigures = Static<typeof EdgeFiguresSchema>;

const PhpFiguresSchema = Type.Object({
  /** Websites whose PHP runs now. */
  running: count,
  /** A Linux host: what the processes of websites use. The embedded host: what is reserved for the running ones. Null if unknown. */
  memoryBytes: orNull(count),
  /** The most memory of all websites; null without a common limit. */
  memoryLimitBytes: orNull(count),
  /** Number of times that PHP ended without a request to do so, and was started again. */
  restarts: count,
  /** Requests that wait for PHP now; null if unknown. */
  waiting: orNull(count),
});

/** What a host measures about itself, without names of websites. Totals count from the start of its process. */
export const HostFiguresSchema = Type.Object({
  edge: EdgeFiguresSchema,
  /** Null: the host runs no PHP. */
  php: orNull(PhpFiguresSchema),
  /** Websites whose scheduled tasks are overdue. */
  lateCron: count,
});
export type HostFigures = Static<typeof HostFiguresSchema>;

/** A host's measurements of itself. */
export interface FigureSource {
  /** Its time does not grow with the number of websites. */
  readFigures(): Promise<HostFigures>;
}
