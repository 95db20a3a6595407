import { copyFile, mkdir, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ifThere } from '../../../lib/if-there.ts';

const TRIES = 40;
/** From this one on, an unchanged journal is copied too. Most transactions end before. */
const JOURNAL_TRY = 20;
/** Longer than the steps of a file system's clock, so that every later write changes the time of the file. */
const REST_MS = 50;

/**
 * Copies the live database of a website, without its PHP and from any process. PHP's locks are in its own memory, so this copies between
 * two transactions: the copy counts if none was open before and after it, and none ended meanwhile. PHP that was killed leaves its
 * journal. So after some tries an unchanged journal is copied too, as a power cut would leave both, and PHP's SQLite rolls the copy back.
 * The platform never opens a database of a website with SQLite, because its journal can name any file for deletion.
 *
 * @throws Error if the database never rests
 */
export async function copyLiveDatabase(
  from: string,
  to: string,
  {
    pause = sleep,
    signal,
  }: { pause?: (ms: number) => Promise<unknown>; signal?: AbortSignal | undefined } = {},
): Promise<void> {
  await mkdir(dirname(to), { recursive: true, mode: 0o700 });
  for (let tried = 1; tried <= TRIES; tried++) {
    signal?.throwIfAborted();
    const before = await stateOf(from);
    await pause(REST_MS);
    if (before.isOpen && tried < JOURNAL_TRY) continue;
    if ((await stateOf(from)).mark !== before.mark) continue;
    await copyFile(from, to);
    // Missing: the transaction has ended, which the mark shows too.
    if (before.isOpen) await ifThere(copyFile(`${from}-journal`, `${to}-journal`));
    if ((await stateOf(from)).mark === before.mark) return;
    await rm(`${to}-journal`, { force: true });
  }
  await rm(to, { force: true });
  throw new Error('the database of the website changes all the time');
}

interface DatabaseState {
  /** Changes with each write. */
  mark: string;
  /** Whether a transaction is open or was killed. SQLite truncates the journal to end one. */
  isOpen: boolean;
}

async function stateOf(file: string): Promise<DatabaseState> {
  const [database, journal] = await Promise.all([
    stat(file, { bigint: true }),
    ifThere(stat(`${file}-journal`, { bigint: true })),
  ]);
  const parts = [database.ino, database.size, database.mtimeNs, journal?.size ?? '', journal?.mtimeNs ?? ''];
  return { mark: parts.join('-'), isOpen: journal !== null && journal.size > 0n };
}
