import { mapConcurrent } from '../../../lib/concurrency.ts';
import { DAY_MS } from '../../../lib/durations.ts';
import { canonicalAddress, shortenAddress } from '../logs/addresses.ts';
import type { InstallLogs } from '../logs/install-logs.ts';
import type { UsageLine } from './usage-lines.ts';

/** The requests of each install, in its log `access`. */
export interface AccessLogs {
  /** Appends requests. Never rejects, like {@link InstallLogs.appendLines}. */
  append(lines: readonly UsageLine[]): Promise<void>;
}

const WRITTEN_AT_ONCE = 8;

/** `wholeAddresses`: whether addresses are written whole, to be shortened later. */
export function createAccessLogs(
  logs: Pick<InstallLogs, 'appendLines'>,
  { wholeAddresses }: { wholeAddresses: boolean },
): AccessLogs {
  return {
    async append(lines) {
      const inOrder = lines.toSorted((one, other) => one.atMs - other.atMs);
      const groups = Map.groupBy(inOrder, ({ installId }) => installId);
      await mapConcurrent([...groups], WRITTEN_AT_ONCE, async ([installId, own]) => {
        for (const [day, ofDay] of Map.groupBy(own, ({ atMs }) => Math.floor(atMs / DAY_MS))) {
          const texts = ofDay.map((line) => accessLine(line, wholeAddresses));
          await logs.appendLines('access', installId, isoTime(day * DAY_MS).slice(0, 10), texts);
        }
      });
    },
  };
}

/** The line of a request in the log. It has no query, so that it may be kept and shown. */
export function accessLine({ atMs, address, answer }: UsageLine, wholeAddress: boolean): string {
  const shown = wholeAddress ? canonicalAddress(address) : shortenAddress(address);
  return `{"time":"${isoTime(atMs)}","address":"${shown}",${answer}\n`;
}

function isoTime(atMs: number): string {
  return new Date(atMs).toISOString();
}
