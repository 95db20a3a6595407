import { hash, randomBytes, randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import type { Clock } from '../../../lib/clock.ts';
import { type Repetition, repeatEvery } from '../../../lib/concurrency.ts';
import { DAY_MS, MINUTE_MS } from '../../../lib/durations.ts';
import { messageOf } from '../../../lib/error-message.ts';
import { type PageCounts, USAGE_PAGE, type UsageCursor, type UsagePage } from '../../contract/usage.ts';
import { type DaySalt, type LedgerFile, openLedgerFile, type StoredDay } from './ledger-file.ts';
import { openSketch, type VisitorSketch } from './visitor-sketch.ts';

/** One answered request. */
export interface CountedRequest {
  installId: string;
  /** When the answer ended. */
  atMs: number;
  bytes: number;
  /** Null if the request is no visit. */
  visitor: string | null;
  /** Left out if the page cache was not asked. */
  page?: { isHit: boolean; milliseconds: number } | undefined;
}

/** Counts a host's traffic for each install and UTC day (docs/decisions/usage.md). Counts nothing before its start and after its stop. */
export interface UsageLedger {
  /**
   * Opens the file, and stores the counts regularly from now on. While the file cannot be opened, it is tried again at each flush.
   */
  start(): void;
  /** Counts one answered request. `atMs`: when the answer ended. */
  count(installId: string, atMs: number, bytes: number): void;
  /** Counts a visitor of the day, the first time only. */
  visit(installId: string, atMs: number, visitor: string): void;
  /** Counts all of these requests. If the file is not open or the stored totals cannot be read, it throws and counts none. */
  countAll(requests: readonly CountedRequest[]): void;
  /** The bytes of a log that are counted. Throws if the file is not open. */
  position(logName: string): number;
  /**
   * Notes how far a log is counted, in the same turn as its counts: both are stored together, so that no crash counts a request
   * twice. Null forgets the log.
   */
  setPosition(logName: string, bytes: number | null): void;
  /** Stores the counts, and closes the days that have ended. Returns whether it succeeded. */
  flush(): boolean;
  /** Why the counts could not be stored the last time; null if they were. */
  fault(): string | null;
  /** Stores the counts, and returns those that changed after the cursor. */
  read(since: UsageCursor | null): UsagePage;
  /** Stores the counts a last time. */
  stop(): Promise<void>;
}

/** Counts of at most this time are lost if the process is killed. */
export const FLUSH_MS = 10_000;
/** Answers that ended before midnight are still counted during this time; then the salt of the day is destroyed. */
export const CLOSE_AFTER_MS = 5 * MINUTE_MS;
/** How long a control plane that does not collect can be away. */
const KEEP_DAYS = 60;
const SALT_BYTES = 32;
/** Counts that wait in memory while the file cannot be opened. Logs are counted later instead. */
const MOST_WAITING = 100_000;

/** One call of `count` or `visit`. */
type Waiting = { installId: string; atMs: number } & ({ bytes: number } | { visitor: string });

/** Visitors of the last seconds who are not hashed again: a visitor of a page asks for its files, too. */
const MOST_RECENT = 10_000;

/** The counts of one install on an open day. */
interface Counter {
  requests: number;
  bytes: number;
  pages: PageCounts;
  sketch: VisitorSketch;
  /** Visits of the same day before it was closed: the clock was set back. */
  closedVisits: number;
  /** Since the last flush. */
  changed: boolean;
}

interface OpenDay {
  salt: Buffer;
  isSaltStored: boolean;
  counters: Map<string, Counter>;
}

/** The counter of a request, and the day that it belongs to. */
interface Found {
  counter: Counter;
  day: string;
  salt: Buffer;
}

/** A ledger in `file`, which belongs to this process alone. */
export function createUsageLedger({
  file,
  clock,
  log,
  flushMs = FLUSH_MS,
}: {
  file: string;
  clock: Clock;
  log: Logger;
  flushMs?: number;
}): UsageLedger {
  let stored: LedgerFile | null = null;
  let isStarted = false;
  const waiting: Waiting[] = [];
  let repetition: Repetition | undefined;
  const open = new Map<string, OpenDay>();
  /** Positions that changed since the last flush. */
  const positions = new Map<string, number | null>();
  /** Days, installs and addresses of visitors that were added since the last flush. Never stored. */
  const recent = new Set<string>();
  let failure: string | null = null;
  /** The day of the last count, because nearly all counts are of one day. */
  let latest = { startMs: Number.NaN, day: '' };

  function dayAt(atMs: number): string {
    if (!(atMs >= latest.startMs && atMs < latest.startMs + DAY_MS)) {
      latest = { startMs: Math.floor(atMs / DAY_MS) * DAY_MS, day: dayText(atMs) };
    }
    return latest.day;
  }

  /** The salt is stored with the first counts: a file that cannot be written stops no counting. */
  function openDay(day: string): OpenDay {
    const known = open.get(day);
    if (known !== undefined) return known;
    const opened = { salt: randomBytes(SALT_BYTES), isSaltStored: false, counters: new Map() };
    open.set(day, opened);
    return opened;
  }

  /** The counter of a day; that of the first open day if the day has been closed already. Null if the ledger is not started. */
  function counterAt(installId: string, atMs: number, first = firstOpenDay()): Found | null {
    if (stored === null) return null;
    let day = dayAt(atMs);
    if (day < first) day = first;
    const { salt, counters } = openDay(day);
    let counter = counters.get(installId);
    if (counter === undefined) {
      const before = stored.find(installId, day);
      counter = {
        requests: before?.requests ?? 0,
        bytes: before?.bytes ?? 0,
        pages: { requests: 0, hits: 0, milliseconds: 0, ...before?.pages },
        sketch: openSketch(before?.sketch ?? undefined),
        closedVisits: before?.sketch === null ? before.visits : 0,
        changed: false,
      };
      counters.set(installId, counter);
    }
    counter.changed = true;
    return { counter, day, salt };
  }

  /** The first day that is not over {@link CLOSE_AFTER_MS} past its end. */
  function firstOpenDay(): string {
    return dayAt(clock.now().getTime() - CLOSE_AFTER_MS);
  }

  function changedDays(): StoredDay[] {
    const days: StoredDay[] = [];
    for (const [day, { counters }] of open) {
      for (const [installId, { requests, bytes, pages, sketch, closedVisits, changed }] of counters) {
        if (!changed) continue;
        const visits = closedVisits + sketch.count();
        days.push({ installId, day, requests, bytes, visits, pages, sketch: sketch.toBytes() });
      }
    }
    return days;
  }

  function newSalts(): DaySalt[] {
    return [...open].flatMap(([day, { salt, isSaltStored }]) => (isSaltStored ? [] : [{ day, salt }]));
  }

  function fail(err: unknown, message: string): false {
    if (failure === null) log.error({ err, file }, message);
    failure = messageOf(err);
    return false;
  }

  /** Opens the file unless it is open, and counts what waited for it. */
  function openFile(): LedgerFile | null {
    if (!isStarted) return null;
    try {
      if (stored === null) {
        const opened = openLedgerFile(file, randomUUID, log);
        for (const { day, salt } of opened.salts()) {
          open.set(day, { salt, isSaltStored: true, counters: new Map() });
        }
        stored = opened;
      }
      countWaiting();
    } catch (err) {
      fail(err, 'could not open or read the usage ledger; trying again');
    }
    return stored;
  }

  /** Throws at the first that cannot be counted, which waits with those after it. */
  function countWaiting(): void {
    let counted = 0;
    try {
      for (const one of waiting) {
        countOne(one);
        counted += 1;
      }
    } finally {
      waiting.splice(0, counted);
    }
  }

  function requireOpen(): LedgerFile | null {
    if (stored === null && isStarted) throw new Error(`the usage ledger is not open: ${failure}`);
    return stored;
  }

  function countOne(one: Waiting): void {
    const found = counterAt(one.installId, one.atMs);
    if (found === null) {
      if (isStarted && waiting.length < MOST_WAITING) waiting.push(one);
    } else if ('visitor' in one) addVisitor(found, one.installId, one.visitor);
    else {
      found.counter.requests += 1;
      found.counter.bytes += one.bytes;
    }
  }

  function flush(): boolean {
    const stored = openFile();
    if (stored === null) return false;
    recent.clear();
    try {
      const days = changedDays();
      const salts = newSalts();
      if (days.length + salts.length + positions.size > 0) stored.write(days, salts, positions);
      positions.clear();
      for (const opened of open.values()) {
        opened.isSaltStored = true;
        for (const counter of opened.counters.values()) counter.changed = false;
      }
      closeEnded(stored);
      // Its fault is still there.
      if (waiting.length > 0) return false;
      if (failure !== null) log.info({ file }, 'usage is stored again');
      failure = null;
      return true;
    } catch (err) {
      return fail(err, 'could not store usage; trying again');
    }
  }

  function addVisitor({ counter, day, salt }: Found, installId: string, visitor: string): void {
    const key = `${day} ${installId} ${visitor}`;
    if (recent.has(key)) return;
    if (recent.size >= MOST_RECENT) recent.clear();
    recent.add(key);
    // The install is part of the hash, so that visitors cannot be followed from one website to another.
    const salted = Buffer.concat([salt, Buffer.from(`${installId} ${visitor}`)]);
    counter.sketch.add(hash('sha256', salted, 'buffer'));
  }

  function closeEnded(storage: LedgerFile): void {
    const first = firstOpenDay();
    for (const [day, { salt }] of open) {
      if (day >= first) continue;
      storage.closeDay(day);
      storage.deleteBefore(dayText(clock.now().getTime() - KEEP_DAYS * DAY_MS));
      salt.fill(0);
      open.delete(day);
    }
  }

  return {
    start() {
      if (isStarted) return;
      isStarted = true;
      openFile();
      repetition = repeatEvery(async () => void flush(), {
        delayMs: flushMs,
        onError: (err) => log.error({ err }, 'could not store usage'),
      });
    },
    count(installId, atMs, bytes) {
      countOne({ installId, atMs, bytes });
    },
    visit(installId, atMs, visitor) {
      countOne({ installId, atMs, visitor });
    },
    countAll(requests) {
      requireOpen();
      // Only this reads the file.
      const first = firstOpenDay();
      const counters = requests.map(({ installId, atMs }) => counterAt(installId, atMs, first));
      for (const [index, { installId, bytes, visitor, page }] of requests.entries()) {
        const found = counters[index];
        if (!found) continue;
        found.counter.requests += 1;
        found.counter.bytes += bytes;
        if (page !== undefined) addPage(found.counter.pages, page);
        if (visitor !== null) addVisitor(found, installId, visitor);
      }
    },
    position: (logName) => positions.get(logName) ?? requireOpen()?.position(logName) ?? 0,
    setPosition(logName, bytes) {
      positions.set(logName, bytes);
    },
    flush,
    fault: () => failure,
    read(since) {
      if (!isStarted) throw new Error('the usage ledger has not been started');
      flush();
      if (stored === null) throw new Error(`the usage ledger is not open: ${failure}`);
      return stored.read(since, USAGE_PAGE);
    },
    async stop() {
      await repetition?.stop();
      flush();
      stored?.close();
      stored = null;
      isStarted = false;
      waiting.length = 0;
      open.clear();
      recent.clear();
      positions.clear();
    },
  };
}

function addPage(pages: PageCounts, { isHit, milliseconds }: NonNullable<CountedRequest['page']>): void {
  pages.requests += 1;
  pages.milliseconds += milliseconds;
  if (isHit) pages.hits += 1;
}

function dayText(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 10);
}
