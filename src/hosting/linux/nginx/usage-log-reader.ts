import { open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Clock } from '../../../lib/clock.ts';
import { coalesce, type Repetition, repeatEvery } from '../../../lib/concurrency.ts';
import { ifThere } from '../../../lib/if-there.ts';
import { type EdgeCounts, isCacheHit } from '../../policy/usage/edge-counts.ts';
import type { CountedRequest, UsageLedger } from '../../policy/usage/ledger.ts';
import { isVisit, visitorOf } from '../../policy/usage/visitors.ts';
import type { AccessLogs } from '../../websites/logs/access-logs.ts';
import { parseUsageLine, USAGE_LOG, type UsageLine } from './usage-lines.ts';

/**
 * Counts the requests that nginx logs, copies them to the access logs of their installs, and deletes the log. Every few seconds, the
 * log is renamed and nginx begins another. A renamed log is read until no worker writes to it any more, and kept until its counts are
 * stored. nginx waits for nothing: if this process is down, the log grows up to its limit, and is counted at the next start.
 */
export interface UsageLogReader {
  start(): void;
  /** Counts what nginx has written so far. Its workers write at least every second. */
  collect(): Promise<void>;
  stop(): Promise<void>;
}

export interface UsageLogReaderOptions {
  folder: string;
  ledger: UsageLedger;
  /** Of all websites together. */
  counts: Pick<EdgeCounts, 'add'>;
  accessLogs: Pick<AccessLogs, 'append'>;
  /** Makes nginx open its log again. */
  reopen(): Promise<void>;
  log: Logger;
  clock: Clock;
  /** Milliseconds between readings. */
  everyMs?: number;
  /** Limit of the counted logs that are kept until their counts are stored; 80 MiB if left out. */
  mostWaitingBytes?: number;
  /** Readings of a small log before it is renamed although counts cannot be stored; 30 if left out. */
  mostDelays?: number;
}

const EVERY_MS = 10_000;
/** Time without a new line after which a renamed log is deleted. Workers reopen it at once, unless the machine is very busy. */
const QUIET_MS = 20_000;
const RENAMED = /^requests-\d+\.log$/;
/** The logs are in memory. */
const MOST_WAITING_BYTES = 80 * 1024 * 1024;
/** While counts cannot be stored, each renamed log stays. So a log below this size is read later, for up to 5 minutes. */
const SMALL_LOG = 64 * 1024;
const MOST_DELAYS = 30;
/** stat(2): the unit of `st_blocks`. */
const BLOCK = 512;
const CHUNK = 256 * 1024;
const LINE_FEED = 0x0a;

export function createUsageLogReader(options: UsageLogReaderOptions): UsageLogReader {
  const { folder, ledger, counts, accessLogs, reopen, log, clock, everyMs = EVERY_MS } = options;
  const { mostWaitingBytes = MOST_WAITING_BYTES, mostDelays = MOST_DELAYS } = options;
  /** When each renamed log was last read with a new line, in milliseconds since 1970. */
  const grewAt = new Map<string, number>();
  let repetition: Repetition | undefined;
  /** Names of renamed logs have rising numbers, even if the clock is set back. */
  let latestName = 0;
  /** Whether logs are deleted before their counts are stored. */
  let isFull = false;
  let delays = 0;

  async function collectOnce(): Promise<void> {
    const renamed = (await readdir(folder)).filter((name) => RENAMED.test(name)).sort();
    const now = clock.now().getTime();
    for (const name of renamed) {
      const grew = await countLines(name);
      const last = grewAt.get(name);
      // A time in the future: the clock was set back.
      if (grew || last === undefined || last > now) grewAt.set(name, now);
    }
    const size = (await ifThere(stat(join(folder, USAGE_LOG))))?.size ?? null;
    if (size !== null && size > 0) await renameUnlessEarly(size);
    // An earlier attempt may have failed.
    else if (size === null && renamed.length > 0) await reopen();
    const done = renamed.filter((name) => now - (grewAt.get(name) ?? now) >= QUIET_MS);
    // nginx must have begun another log, and the counts must be stored.
    if (done.length === 0 || size === null) return;
    if (ledger.flush()) {
      for (const name of done) {
        // A worker that stood still may have written to it meanwhile.
        if (await countLines(name)) grewAt.set(name, now);
        else await remove(name);
      }
      isFull = false;
    } else await removeOldest(done);
  }

  async function remove(name: string): Promise<void> {
    await rm(join(folder, name), { force: true });
    ledger.setPosition(name, null);
    grewAt.delete(name);
  }

  /** Keeps the logs whose counts are not stored within their limit. Their counts stay in this process. */
  async function removeOldest(counted: readonly string[]): Promise<void> {
    let bytes = 0;
    for (const name of counted.toReversed()) {
      // A file in memory takes whole pages.
      bytes += BLOCK * ((await ifThere(stat(join(folder, name))))?.blocks ?? 0);
      if (bytes <= mostWaitingBytes) continue;
      await remove(name);
      if (!isFull)
        log.error(
          { folder },
          'usage cannot be stored; its oldest logs are deleted, and a restart loses their counts',
        );
      isFull = true;
    }
  }

  async function renameUnlessEarly(size: number): Promise<void> {
    const isEarly = ledger.fault() !== null && size < SMALL_LOG && delays < mostDelays;
    delays = isEarly ? delays + 1 : 0;
    if (!isEarly) await renameCurrent();
  }

  async function renameCurrent(): Promise<void> {
    latestName = Math.max(Date.now(), latestName + 1);
    const name = `requests-${String(latestName).padStart(15, '0')}.log`;
    await rename(join(folder, USAGE_LOG), join(folder, name));
    grewAt.set(name, clock.now().getTime());
    await reopen();
    await countLines(name);
  }

  /** Counts the new whole lines. Returns whether there were any. */
  async function countLines(name: string): Promise<boolean> {
    const file = await open(join(folder, name));
    let rejected = 0;
    try {
      const from = ledger.position(name);
      let position = from;
      let rest: Buffer = Buffer.alloc(0);
      for (;;) {
        const { bytesRead, buffer } = await file.read(Buffer.alloc(CHUNK), 0, CHUNK, position + rest.length);
        if (bytesRead === 0) break;
        const bytes = Buffer.concat([rest, buffer.subarray(0, bytesRead)]);
        const end = bytes.lastIndexOf(LINE_FEED) + 1;
        // The counts and the position change in one turn of the event loop, so that they are stored together.
        const lines: UsageLine[] = [];
        for (const text of bytes.toString('utf8', 0, end).split('\n')) {
          if (text === '') continue;
          const line = parseUsageLine(text);
          if (line === null) rejected += 1;
          else lines.push(line);
        }
        ledger.countAll(lines.map(countedOf));
        for (const { status, bytes, cache } of lines) {
          counts.add({ status, bytes, isHit: cache === '' ? null : isCacheHit(cache) });
        }
        position += end;
        ledger.setPosition(name, position);
        await accessLogs.append(lines);
        rest = bytes.subarray(end);
        if (rest.length > CHUNK) throw new Error('a line of the usage log is too long');
      }
      if (rejected > 0) log.warn({ rejected }, 'lines of the usage log are not understood');
      return position > from;
    } finally {
      await file.close();
    }
  }

  const collect = coalesce(collectOnce);
  return {
    collect,
    start() {
      repetition ??= repeatEvery(collect, {
        delayMs: everyMs,
        onError: (err) => log.error({ err }, 'could not read the usage log'),
        immediately: true,
      });
    },
    async stop() {
      await repetition?.stop();
      repetition = undefined;
    },
  };
}

/** A line as the ledger counts it. */
export function countedOf(line: UsageLine): CountedRequest {
  const { installId, atMs, bytes, userAgent, address, cache, seconds } = line;
  return {
    installId,
    atMs,
    bytes,
    visitor: isVisit(userAgent) ? visitorOf(address) : null,
    page:
      cache === ''
        ? undefined
        : { isHit: isCacheHit(cache), milliseconds: Math.max(0, Math.round(seconds * 1000)) },
  };
}
