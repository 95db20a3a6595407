import { setTimeout as wait } from 'node:timers/promises';
import type { LogKind } from '../../../hosting/contract/choices.ts';
import type { LogEntries, LogPage } from '../../../hosting/contract/logs.ts';
import { Failure, UpstreamFailed } from '../../../lib/failures.ts';
import { parseEntries } from './entries.ts';

/** New entries for a follower. */
export interface LogBatch<Kind extends LogKind> {
  /** Oldest first. */
  entries: LogEntries[Kind][];
  /** Where to continue after this batch. */
  cursor: string;
  /** Whether the host does not answer now. */
  isUnavailable: boolean;
}

/** Milliseconds. */
export interface FollowPauses {
  /** Between questions to the host. Requests reach the log within a few seconds. */
  between: number;
  /** While the host does not answer. */
  unavailable: number;
}

const PAUSES: FollowPauses = { between: 2_000, unavailable: 5_000 };
/** Pauses after which it is checked that the caller may still read the log. */
const CHECK_EVERY = 2;

export interface FollowedLog<Kind extends LogKind> {
  kind: Kind;
  first: LogPage;
  read(cursor: string): Promise<LogPage>;
  /** Rejects if the caller may no longer read the log. */
  isAdmitted(): Promise<void>;
  signal: AbortSignal;
  /** Called at the end, unless nobody asked for the first batch. */
  ended(): void;
  pauses?: FollowPauses;
}

/** Yields what is added to a log, and empty batches in between, until the signal aborts or the caller loses access. */
export async function* followLog<Kind extends LogKind>({
  kind,
  first,
  read,
  isAdmitted,
  signal,
  ended,
  pauses = PAUSES,
}: FollowedLog<Kind>): AsyncGenerator<LogBatch<Kind>> {
  let cursor = first.cursor ?? first.end;
  let page: LogPage | null = first;
  try {
    for (let turn = 1; ; turn++) {
      yield {
        entries: page === null ? [] : parseEntries(kind, page.lines),
        cursor,
        isUnavailable: page === null,
      };
      // More may be waiting already. A search without hits leaves the host to others meanwhile.
      const isBehind = page !== null && page.lines.length > 0 && page.cursor !== page.end;
      const pause = page === null ? pauses.unavailable : pauses.between;
      if (!isBehind) await wait(pause, undefined, { signal });
      if (turn % CHECK_EVERY === 0) await isAdmitted();
      page = await read(cursor).catch((error: unknown) => {
        if (error instanceof UpstreamFailed) return null;
        throw error;
      });
      cursor = page?.cursor ?? cursor;
    }
  } catch (error) {
    // Without access, without the client, or while the server stops, the stream ends; the next request gets the reason.
    if (!signal.aborted && !(error instanceof Failure)) throw error;
  } finally {
    ended();
  }
}
