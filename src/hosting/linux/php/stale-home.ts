import { stat } from 'node:fs/promises';
import { firstChildOf, unlessGone } from '../daemons/process-records.ts';

/**
 * Whether the sandbox of a running daemon shows a former folder at the path of a home. That folder was deleted or moved away since the
 * daemon started. `pid`: the main process of {@link fpmSpec}.
 */
export async function hasStaleHome(pid: number, home: string): Promise<boolean> {
  const inside = await firstInSandbox(pid);
  // It is starting or ending.
  if (inside === null) return false;
  const [present, seen] = await Promise.all([inodeAt(home), inodeAt(`/proc/${inside}/root${home}`)]);
  return present !== null && present !== seen && (await firstInSandbox(pid)) === inside;
}

/** The first process inside the sandbox. `finish()` of the daemon's shell passes the same ones on the way to PHP. */
async function firstInSandbox(main: number): Promise<number | null> {
  const asking = await firstChildOf(main);
  const outermost = asking === null ? null : await firstChildOf(asking);
  return outermost === null ? null : firstChildOf(outermost);
}

async function inodeAt(path: string): Promise<string | null> {
  const found = await unlessGone(stat(path, { bigint: true }));
  return found === null ? null : `${found.dev}:${found.ino}`;
}
