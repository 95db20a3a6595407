import { copyFile, mkdir, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ifThere } from '../../../lib/if-there.ts';

const TRIES = 40;
/** Longer than the steps of a file system's clock, so that every later write changes the time of the file. */
const REST_MS = 50;

/**
 * Copies the live database of a website, without its PHP and from any process. PHP's locks are in its own memory, so this copies between
 * two transactions: the copy counts if none was open before and after it, and none ended meanwhile. The platform never opens a database
 * of a website with SQLite, because its journal can name any file for deletion.
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
    if (before === null || (await stateOf(from)) !== before) continue;
    await copyFile(from, to);
    if ((await stateOf(from)) === before) return;
  }
  await rm(to, { force: true });
  throw new Error('the database of the website changes all the time');
}

/** Changes with each write; null while a transaction is open. SQLite truncates the journal to end a transaction. */
async function stateOf(file: string): Promise<string | null> {
  const [database, journal] = await Promise.all([
    stat(file, { bigint: true }),
    ifThere(stat(`${file}-journal`, { bigint: true })),
  ]);
  if (journal !== null && journal.size > 0n) return null;
  return [database.ino, database.size, database.mtimeNs, journal?.mtimeNs ?? ''].join('-');
}
