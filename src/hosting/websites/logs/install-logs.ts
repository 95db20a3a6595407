import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Clock } from '../../../lib/clock.ts';
import { serializeByKey } from '../../../lib/concurrency.ts';
import { hasCode } from '../../../lib/error-code.ts';
import { parseUuid } from '../../../lib/ids.ts';
import type { LogKind } from '../../contract/choices.ts';
import type { LogEntries } from '../../contract/logs.ts';
import { logLine } from './log-line.ts';
import { oldestKeptDay } from './retention.ts';
import { SEGMENT_BYTES, segmentName, segmentsOf } from './segments.ts';

/** Writes the logs of installs, in a folder that an install can read and not change. */
export interface InstallLogs {
  /**
   * Appends entries to a log of an install. Never rejects: a log that cannot be written is reported, and its entries are lost, as are
   * those of a removed install.
   */
  append<Kind extends LogKind>(
    kind: Kind,
    installId: string,
    entries: readonly LogEntries[Kind][],
  ): Promise<void>;
  /** Appends entries of one UTC day, as {@link logLine} writes them. */
  appendLines(kind: LogKind, installId: string, day: string, lines: readonly string[]): Promise<void>;
  /** Runs work on the files of a log while nothing is appended. */
  alone<Result>(kind: LogKind, installId: string, work: () => Promise<Result>): Promise<Result>;
}

export interface InstallLogsOptions {
  /** The folder of an install's logs. Entries are dropped while it is missing. */
  folderOf(installId: string): string;
  clock: Clock;
  log: Logger;
  /** Days of entries that are kept. */
  days: number;
  /** Called when a log has begun another part of a day. */
  grown?(installId: string): void;
  segmentBytes?: number;
}

/** The segment that a log is written to. */
interface Current {
  day: string;
  part: number;
  bytes: number;
}

const FLAGS = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;
/** On a Linux host, the folder gives its group to the files: the install's. */
const READABLE_BY_GROUP = 0o640;
const LINE_FEED = 0x0a;

export function createInstallLogs(options: InstallLogsOptions): InstallLogs {
  const { folderOf, clock, log, days, grown, segmentBytes = SEGMENT_BYTES } = options;
  const serially = serializeByKey();
  const current = new Map<string, Current>();
  let isFailing = false;

  async function write(kind: LogKind, installId: string, day: string, text: string): Promise<void> {
    const folder = folderOf(installId);
    const key = `${installId}/${kind}`;
    const known = current.get(key);
    const isKnown = known?.day === day;
    const part = isKnown ? known.part : await writablePart(folder, kind, day);
    const path = join(folder, segmentName({ kind, day, part, isCompressed: false }));
    const file = await open(path, FLAGS, READABLE_BY_GROUP);
    try {
      if (!isKnown && (await isCutOff(file))) await file.appendFile('\n');
      const bytes = Buffer.from(text);
      await file.appendFile(bytes);
      // Nothing else writes to it, so its size needs no further call.
      const size = isKnown ? known.bytes + bytes.length : (await file.stat()).size;
      const isFull = size >= segmentBytes;
      current.set(key, { day, ...(isFull ? { part: part + 1, bytes: 0 } : { part, bytes: size }) });
      if (isFull) grown?.(installId);
    } finally {
      await file.close();
    }
  }

  async function appendLines(
    kind: LogKind,
    installId: string,
    day: string,
    lines: readonly string[],
  ): Promise<void> {
    if (day < oldestKeptDay(clock.now(), days) || parseUuid(installId) !== installId) return;
    const key = `${installId}/${kind}`;
    try {
      await serially(key, () => write(kind, installId, day, lines.join('')));
      isFailing = false;
    } catch (err) {
      current.delete(key);
      // The folder goes with the install.
      if (hasCode(err, 'ENOENT')) return;
      if (!isFailing) log.error({ err, install: installId }, 'could not write the logs of installs');
      isFailing = true;
    }
  }

  return {
    async append<Kind extends LogKind>(kind: Kind, installId: string, entries: readonly LogEntries[Kind][]) {
      for (const [day, own] of Map.groupBy(entries, ({ time }) => time.slice(0, 10))) {
        const lines = own.map((entry) => logLine<Kind>(entry));
        await appendLines(kind, installId, day, lines);
      }
    },
    appendLines,
    alone(kind, installId, work) {
      const key = `${installId}/${kind}`;
      return serially(key, async () => {
        current.delete(key);
        return work();
      });
    },
  };
}

/** The newest part of a day if it is not compressed yet; otherwise the next. */
async function writablePart(folder: string, kind: LogKind, day: string): Promise<number> {
  const newest = (await segmentsOf(folder, kind)).filter((segment) => segment.day === day).at(-1);
  if (newest === undefined) return 1;
  return newest.isCompressed ? newest.part + 1 : newest.part;
}

/** Whether the last line lacks its end, because the host was killed while it wrote. */
async function isCutOff(file: FileHandle): Promise<boolean> {
  const { size } = await file.stat();
  if (size === 0) return false;
  const { buffer } = await file.read(Buffer.alloc(1), 0, 1, size - 1);
  return buffer[0] !== LINE_FEED;
}
