import { type FileHandle, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import Type from 'typebox';
import { Value } from 'typebox/value';
import type { Clock } from '../../../lib/clock.ts';
import { serializeByKey } from '../../../lib/concurrency.ts';
import { writeAtomically } from '../../../lib/durable-file.ts';
import { ifThere } from '../../../lib/if-there.ts';
import type { PhpEntry } from '../../contract/logs.ts';
import type { Records } from '../../runtime/runtime.ts';
import type { InstallLogs } from './install-logs.ts';
import { parsePhpLog } from './php-entries.ts';

/** How far PHP's log of an install has been read. */
const positionSchema = Type.Object({ inode: Type.Number(), offset: Type.Number(), latest: Type.Number() });
interface Position {
  inode: number;
  offset: number;
  /** Time of the last entry, in milliseconds. */
  latest: number;
}

const POSITION_FILE = '.php-error-log.json';
/** At most this is read of an install at once, so that a website cannot occupy the host with its errors. */
const MOST_BYTES = 1024 * 1024;
/** If more is unread, the older part is left out. */
const MOST_UNREAD = 4 * MOST_BYTES;

/** Copies what PHP writes to its error log to the install's log `php`. */
export function createPhpLogReader({
  recordsOf,
  logs,
  clock,
}: {
  recordsOf(installId: string): Records;
  logs: Pick<InstallLogs, 'append'>;
  clock: Clock;
}) {
  const positions = new Map<string, Position>();
  // Two readings at once would copy the same messages.
  const serially = serializeByKey();

  async function positionOf(installId: string): Promise<Position> {
    const known = positions.get(installId);
    if (known !== undefined) return known;
    const text = await ifThere(readFile(join(recordsOf(installId).logs, POSITION_FILE), 'utf8'));
    return parsePosition(text) ?? { inode: 0, offset: 0, latest: 0 };
  }

  async function keep(installId: string, position: Position): Promise<void> {
    positions.set(installId, position);
    await writeAtomically(join(recordsOf(installId).logs, POSITION_FILE), JSON.stringify(position));
  }

  async function readNew(installId: string): Promise<boolean> {
    const known = await positionOf(installId);
    positions.set(installId, known);
    const file = await recordsOf(installId).openErrorLog('present');
    if (file === null) return false;
    try {
      const stats = await file.stat();
      if (!stats.isFile()) return false;
      let position = known;
      if (stats.ino !== known.inode) {
        // The log was rotated: first the rest of the former one.
        position = { ...(await readRotated(installId, known)), inode: stats.ino, offset: 0 };
      } else if (stats.size < known.offset) position = { ...known, offset: 0 };
      const reached = await copy(installId, file, stats.size, position);
      if (reached === known) return false;
      await keep(installId, reached);
      return true;
    } finally {
      await file.close();
    }
  }

  async function readRotated(installId: string, known: Position): Promise<Position> {
    const file = known.inode === 0 ? null : await recordsOf(installId).openErrorLog('former');
    if (file === null) return known;
    try {
      const stats = await file.stat();
      return stats.isFile() && stats.ino === known.inode
        ? await copy(installId, file, stats.size, known)
        : known;
    } finally {
      await file.close();
    }
  }

  async function copy(installId: string, file: FileHandle, size: number, from: Position): Promise<Position> {
    if (size <= from.offset) return from;
    const offset = size - from.offset > MOST_UNREAD ? size - MOST_BYTES : from.offset;
    const length = Math.min(MOST_BYTES, size - offset);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, offset);
    const part = buffer.subarray(0, bytesRead);
    const now = clock.now().getTime();
    const isEnd = offset + bytesRead >= size;
    const { entries, bytes } = parsePhpLog(part, { after: from.latest, now, isEnd });
    // Without a line feed in a full part, the line is longer than any that is shown.
    const taken = bytes === 0 && part.length === MOST_BYTES ? part.length : bytes;
    await logs.append('php', installId, [...leftOut(offset - from.offset, from.latest, now), ...entries]);
    const last = entries.at(-1);
    const latest = last === undefined ? from.latest : Date.parse(last.time);
    return taken === 0 && offset === from.offset ? from : { ...from, offset: offset + taken, latest };
  }

  return {
    /** Copies new messages, and returns whether there were any. Succeeds without a log, and for a removed install. */
    read: (installId: string): Promise<boolean> => serially(installId, () => readNew(installId)),
    /** Forgets installs that are gone. */
    forgetAllBut(installIds: ReadonlySet<string>): void {
      for (const id of positions.keys()) if (!installIds.has(id)) positions.delete(id);
    },
  };
}

function leftOut(bytes: number, after: number, now: number): PhpEntry[] {
  if (bytes === 0) return [];
  const time = new Date(Math.min(Math.max(after, 0), now)).toISOString();
  return [
    {
      time,
      level: 'message',
      message: `${bytes} bytes of the log are left out: there were too many messages`,
    },
  ];
}

function parsePosition(text: string | null): Position | null {
  if (text === null) return null;
  try {
    const value: unknown = JSON.parse(text);
    return Value.Check(positionSchema, value) ? value : null;
  } catch {
    return null;
  }
}
