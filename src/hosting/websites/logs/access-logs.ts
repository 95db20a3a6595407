import { mapConcurrent } from '../../../lib/concurrency.ts';
import { DAY_MS } from '../../../lib/durations.ts';
import type { AccessEntry } from '../../contract/logs.ts';
import { canonicalAddress, shortenAddress } from './addresses.ts';
import type { InstallLogs } from './install-logs.ts';
import { logLine, shortLine } from './log-line.ts';

/** Characters of the texts of visitors that are logged. */
export const LONGEST_PATH = 1_000;
export const LONGEST_REFERRER = 500;
export const LONGEST_METHOD = 32;

/** One answered request of an install. */
export interface LoggedRequest {
  installId: string;
  atMs: number;
  address: string;
  /** What follows the time and the address in the request's entry: the members of a JSON object and its end. */
  answer: string;
}

/** The requests of each install, in its log `access`. */
export interface AccessLogs {
  /** Appends requests. Never rejects, like {@link InstallLogs.appendLines}. */
  append(lines: readonly LoggedRequest[]): Promise<void>;
}

const WRITTEN_AT_ONCE = 8;

/** `wholeAddresses`: whether addresses are written whole, to be shortened later. */
export function createAccessLogs(
  logs: Pick<InstallLogs, 'appendLines'>,
  { wholeAddresses }: { wholeAddresses: boolean },
): AccessLogs {
  return {
    async append(lines) {
      // Most visitors send many requests.
      const shown = new Map<string, string>();
      const lineOf = (line: LoggedRequest): string => {
        const address = shown.get(line.address) ?? shownAddress(line.address, wholeAddresses);
        shown.set(line.address, address);
        return lineWith(address, line);
      };
      const inOrder = lines.toSorted((one, other) => one.atMs - other.atMs);
      const groups = Map.groupBy(inOrder, ({ installId }) => installId);
      await mapConcurrent([...groups], WRITTEN_AT_ONCE, async ([installId, own]) => {
        for (const [day, ofDay] of Map.groupBy(own, ({ atMs }) => Math.floor(atMs / DAY_MS))) {
          const texts = ofDay.map(lineOf);
          await logs.appendLines('access', installId, isoTime(day * DAY_MS).slice(0, 10), texts);
        }
      });
    },
  };
}

/** The line of a request in the log. It has no query, so that it may be kept and shown. */
export function accessLine(line: LoggedRequest, wholeAddress: boolean): string {
  return lineWith(shownAddress(line.address, wholeAddress), line);
}

const shownAddress = (address: string, whole: boolean): string =>
  whole ? canonicalAddress(address) : shortenAddress(address);

const lineWith = (address: string, { atMs, answer }: LoggedRequest): string =>
  `{"time":"${isoTime(atMs)}","address":"${address}",${answer}\n`;

/** The {@link LoggedRequest.answer} of an entry. */
export function answerOf(entry: Omit<AccessEntry, 'time' | 'address'>): string {
  const short = shortLine(entry);
  if (short !== null) return short.slice(1);
  const line = logLine<'access'>({ time: '', address: '', ...entry });
  return line.slice(line.indexOf('"method":'), -1);
}

function isoTime(atMs: number): string {
  return new Date(atMs).toISOString();
}
