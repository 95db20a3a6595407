import { stat } from 'node:fs/promises';
import { firstChildOf, unlessGone } from '../daemons/process-records.ts';

/**
 * Whether the sandbox of a running daemon shows a former folder at the path of a home. That folder was deleted or moved away since the
 * daemon started. `pid`: the main process of {@link fpmSpec}.
 */
export async function hasStaleHome(pid: number, home: string): Promise<boolean> {
  const sandbox = await firstChildOf(pid);
  // As `finish()` of the daemon's shell finds PHP.
  const inside = sandbox === null ? null : await firstChildOf(sandbox);
  // It is starting or ending.
  if (inside === null) return false;
  const [present, seen] = await Promise.all([inodeAt(home), inodeAt(`/proc/${inside}/root${home}`)]);
  return present !== null && present !== seen && (await firstChildOf(sandbox ?? pid)) === inside;
}

async function inodeAt(path: string): Promise<string | null> {
  const found = await unlessGone(stat(path, { bigint: true }));
  return found === null ? null : `${found.dev}:${found.ino}`;
}
