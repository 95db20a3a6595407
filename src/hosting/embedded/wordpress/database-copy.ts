import { type BigIntStats, constants, createWriteStream } from 'node:fs';
import { lstat, rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { ifThere } from '../../../lib/if-there.ts';
import { openContained } from '../host-folder/contained-file.ts';

const TRIES = 40;
/** From this one on, an unchanged journal is copied too. Most transactions end before. */
const JOURNAL_TRY = 20;
/** Longer than the steps of a file system's clock, so that every later write changes the time of the file. */
const REST_MS = 50;
const JOURNAL = '-journal';
/** Endings of the files of a database. */
const ALL = ['', JOURNAL, '-wal'];
const NOT_PLAIN = 'the database of the website is not a plain file in its folder';

/**
 * Copies the live database of a website, without its PHP and from any process. PHP's locks are in its own memory, so this copies between
 * two transactions: the copy counts if none was open before and after it, and none ended meanwhile. PHP that was killed leaves its
 * journal. So after some tries an unchanged journal is copied too, as a power cut would leave both, and PHP's SQLite rolls the copy back.
 * If the website has chosen WAL, its file is always copied too, because it holds committed transactions.
 * The platform never opens a database of a website with SQLite, because its journal can name any file for deletion.
 *
 * @param from path without symbolic links
 * @param to path in an existing folder
 * @throws Error if the database never rests, or is not a plain file
 */
export async function copyLiveDatabase(
  from: string,
  to: string,
  {
    pause = sleep,
    signal,
  }: { pause?: (ms: number) => Promise<unknown>; signal?: AbortSignal | undefined } = {},
): Promise<void> {
  const removeCopy = () => Promise.all(ALL.map((end) => rm(to + end, { force: true })));
  for (let tried = 1; tried <= TRIES; tried++) {
    signal?.throwIfAborted();
    const before = await stateOf(from);
    await pause(REST_MS);
    if (before.isOpen && tried < JOURNAL_TRY) continue;
    if ((await stateOf(from)).mark !== before.mark) continue;
    await copyPlain(from, to, signal);
    // Missing: the transaction has ended, which the mark shows too.
    for (const end of before.parts) await ifThere(copyPlain(from + end, to + end, signal));
    if ((await stateOf(from)).mark === before.mark) return;
    await removeCopy();
  }
  throw new Error('the database of the website changes all the time');
}

/** Without following a link or waiting at a pipe in place of the file. */
async function copyPlain(from: string, to: string, signal: AbortSignal | undefined): Promise<void> {
  const file = await openContained(from, constants.O_RDONLY);
  try {
    if (!(await file.stat()).isFile()) throw new Error(NOT_PLAIN);
    const written = createWriteStream(to, { flags: 'wx', mode: 0o600 });
    await pipeline(file.createReadStream({ autoClose: false }), written, { signal });
  } finally {
    await file.close();
  }
}

interface DatabaseState {
  /** Changes with each write. */
  mark: string;
  /** Whether a transaction is open or was killed. SQLite truncates the journal to end one. */
  isOpen: boolean;
  /** Endings of the files that belong to the database. */
  parts: string[];
}

async function stateOf(file: string): Promise<DatabaseState> {
  const found = await Promise.all(
    ALL.map(async (end) => {
      const stats = await (end === ''
        ? lstat(file, { bigint: true })
        : ifThere(lstat(file + end, { bigint: true })));
      if (stats !== null && !stats.isFile()) throw new Error(NOT_PLAIN);
      return { end, stats };
    }),
  );
  const parts = found
    .filter(({ end, stats }) => end !== '' && (stats?.size ?? 0n) > 0n)
    .map(({ end }) => end);
  return { mark: found.map(({ stats }) => markOf(stats)).join(' '), isOpen: parts.includes(JOURNAL), parts };
}

const markOf = (stats: BigIntStats | null): string =>
  stats === null ? '' : `${stats.ino}-${stats.size}-${stats.mtimeNs}`;
