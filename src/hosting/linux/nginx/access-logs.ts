import { mapConcurrent } from '../../../lib/concurrency.ts';
import type { AccessEntry } from '../../contract/logs.ts';
import { canonicalAddress, shortenAddress } from '../logs/addresses.ts';
import type { InstallLogs } from '../logs/install-logs.ts';
import type { UsageLine } from './usage-lines.ts';

/** The requests of each install, in its log `access`. */
export interface AccessLogs {
  /** Appends requests. Never rejects, like {@link InstallLogs.append}. */
  append(lines: readonly UsageLine[]): Promise<void>;
}

const WRITTEN_AT_ONCE = 8;

/** `wholeAddresses`: whether addresses are written whole, to be shortened later. */
export function createAccessLogs(
  logs: Pick<InstallLogs, 'append'>,
  { wholeAddresses }: { wholeAddresses: boolean },
): AccessLogs {
  return {
    async append(lines) {
      const inOrder = lines.toSorted((one, other) => one.atMs - other.atMs);
      const groups = Map.groupBy(inOrder, ({ installId }) => installId);
      await mapConcurrent([...groups], WRITTEN_AT_ONCE, ([installId, own]) => {
        const entries = own.map((line) => accessEntry(line, wholeAddresses));
        return logs.append('access', installId, entries);
      });
    },
  };
}

const LONGEST_METHOD = 32;

/** The entry of a request. It has no query, so that it may be kept and shown. */
export function accessEntry(line: UsageLine, wholeAddress: boolean): AccessEntry {
  return {
    time: new Date(line.atMs).toISOString(),
    address: wholeAddress ? canonicalAddress(line.address) : shortenAddress(line.address),
    method: line.method.slice(0, LONGEST_METHOD),
    scheme: line.scheme,
    host: line.host,
    path: line.path,
    status: line.status,
    bytes: line.bytes,
    cache: line.cache === '' ? null : line.cache,
    seconds: line.seconds,
    php_seconds: line.upstreamSeconds,
    user_agent: line.userAgent,
    referrer: line.referrer,
  };
}
