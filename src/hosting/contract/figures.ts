import Type, { type Static } from 'typebox';
import { count, orNull } from './message-values.ts';
import { LARGEST_COUNT } from './usage.ts';

/** Bounded, because the host may be compromised. */
const total = Type.Integer({ minimum: 0, maximum: LARGEST_COUNT });

/** The classes of the statuses of answers. `none`: the visitor left before an answer. */
export const STATUS_CLASSES = ['2xx', '3xx', '4xx', '5xx', 'none'] as const;
export type StatusClass = (typeof STATUS_CLASSES)[number];

const EdgeFiguresSchema = Type.Object({
  answers: Type.Object({ '2xx': total, '3xx': total, '4xx': total, '5xx': total, none: total }),
  /** Bytes sent to visitors, before TLS. */
  bytes: total,
  /** Requests that asked the page cache, and those of them that it answered. */
  cacheRequests: total,
  cacheHits: total,
});
export type EdgeFigures = Static<typeof EdgeFiguresSchema>;

const PhpFiguresSchema = Type.Object({
  /** Websites whose PHP runs now. */
  running: count,
  /** A Linux host: what the processes of websites use. The embedded host: what is reserved for the running ones. Null if unknown. */
  memoryBytes: orNull(total),
  /** The most memory of all websites; null without a common limit. */
  memoryLimitBytes: orNull(total),
  /** Number of times that PHP ended without a request to do so, and was started again. */
  restarts: total,
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
