import { constants } from 'node:fs';
import { open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { DAY_MS, MINUTE_MS } from '../../../lib/durations.ts';
import { ifThere } from '../../../lib/if-there.ts';
import { shortenAddresses } from './addresses.ts';
import { compressBlocks } from './compressed-segment.ts';
import type { InstallLogs } from './install-logs.ts';
import { openPlain } from './plain-segment.ts';
import { oldestKeptDay, type StoredSegment, segmentsToDelete } from './retention.ts';
import { parseSegmentName, segmentName } from './segments.ts';

export interface LogRules {
  /** Days of entries that are kept; today counts. */
  days: number;
  /** How long addresses stay whole, in milliseconds; null: always. */
  wholeAddressMs: number | null;
  /** The most bytes of all logs of an install. */
  mostBytes: number;
}

/** Entries of the last day still arrive for a while. */
const LATE_MS = 10 * MINUTE_MS;
const UNFINISHED = '.new';

/** Deletes, shortens the addresses of, and compresses the logs of one install. */
export async function tendLogs(
  folder: string,
  installId: string,
  { logs, rules, now }: { logs: Pick<InstallLogs, 'alone'>; rules: LogRules; now: Date },
): Promise<void> {
  await deleteOld(folder, rules, now);
  for (const segment of await storedSegments(folder)) {
    if (segment.isCompressed) continue;
    const isAccess = segment.kind === 'access';
    const keepsWhole = isAccess ? (rules.wholeAddressMs ?? 0) : 0;
    if (isAccess && rules.wholeAddressMs !== null) {
      await shortenSegment(folder, segment, now.getTime() - rules.wholeAddressMs);
    }
    const endsAt = Date.parse(segment.day) + DAY_MS;
    if (now.getTime() < endsAt + Math.max(keepsWhole, LATE_MS)) continue;
    await logs.alone(segment.kind, installId, () => compressSegment(folder, segment));
  }
}

/** Deletes what is too old, or too much. */
export async function deleteOld(
  folder: string,
  { days, mostBytes }: Pick<LogRules, 'days' | 'mostBytes'>,
  now: Date,
): Promise<void> {
  const segments = await storedSegments(folder);
  for (const segment of segmentsToDelete(segments, { oldest: oldestKeptDay(now, days), mostBytes })) {
    await rm(join(folder, segmentName(segment)), { force: true });
  }
}

async function storedSegments(folder: string): Promise<StoredSegment[]> {
  const found: StoredSegment[] = [];
  for (const name of (await ifThere(readdir(folder))) ?? []) {
    const segment = parseSegmentName(name);
    if (segment === null) {
      if (name.endsWith(UNFINISHED)) await rm(join(folder, name), { force: true });
      continue;
    }
    const stats = await ifThere(stat(join(folder, name)));
    if (stats !== null) found.push({ ...segment, bytes: stats.size });
  }
  return found;
}

/** Shortening twice changes nothing, so that it can be repeated after a crash. */
async function shortenSegment(folder: string, segment: StoredSegment, before: number): Promise<void> {
  if (Date.parse(segment.day) >= before) return;
  const path = join(folder, segmentName(segment));
  const content = await openPlain(path);
  if (content === null) return;
  try {
    const file = await open(path, constants.O_WRONLY | constants.O_NOFOLLOW);
    try {
      for await (const { buffer, start } of content.blocksFrom(0)) {
        const { done, changed } = shortenAddresses(buffer, before);
        if (changed) await file.write(buffer, 0, done, start);
        if (done < buffer.length) return;
      }
    } finally {
      await file.close();
    }
  } finally {
    await content.close();
  }
}

/** If the host is killed before the end, both files are there, and the next turn completes it. */
async function compressSegment(folder: string, segment: StoredSegment): Promise<void> {
  const path = join(folder, segmentName(segment));
  const content = await openPlain(path);
  if (content === null) return;
  const compressed = join(folder, segmentName({ ...segment, isCompressed: true }));
  const unfinished = `${compressed}${UNFINISHED}`;
  try {
    const file = await open(unfinished, 'w', 0o640);
    try {
      await file.writeFile(compressBlocks(content.blocksFrom(0)));
      await file.sync();
    } finally {
      await file.close();
    }
  } finally {
    await content.close();
  }
  await rename(unfinished, compressed);
  await rm(path, { force: true });
}
