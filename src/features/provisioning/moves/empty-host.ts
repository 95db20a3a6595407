import { Conflict, InvalidRequest } from '../../../lib/failures.ts';
import type { Platform } from '../../../platform/platform.ts';
import { otherHostFor } from '../../hosts/placement-service.ts';
import { movableInstalls } from '../../hosts/placement-store.ts';
import type { RequestedMove } from './requests.ts';

/** What became of an install of a host that is emptied. */
export type EmptiedInstall = { name: string } & ({ to: string } | { stayed: string });

/** What one move came to: null, or why the install stays. */
export type MoveEnd = (
  move: RequestedMove,
  of: { name: string; number: number; total: number },
) => Promise<string | null>;

/** More installs than a machine has. */
const ALL = 1_000_000;

/**
 * Moves the active installs of a host to others, one after the other, the smallest first: each goes where placement would put it now. One that cannot move
 * stays, and the next ones go on. `ended` waits for a move. Ends early if `signal` is aborted.
 */
export async function* emptyHost(
  platform: Pick<Platform, 'database'>,
  request: (name: string, hostName: string) => Promise<RequestedMove>,
  hostId: string,
  ended: MoveEnd,
  signal: AbortSignal,
): AsyncGenerator<EmptiedInstall> {
  const installs = await movableInstalls(platform.database.reader, { hostId, limit: ALL });
  for (const [index, { id, name }] of installs.entries()) {
    if (signal.aborted) return;
    const choice = await otherHostFor(platform, id);
    // It was deleted meanwhile.
    if (choice === undefined) continue;
    if ('refusal' in choice) {
      yield { name, stayed: choice.refusal };
      continue;
    }
    const to = choice.host.name;
    try {
      const move = await request(name, to);
      const stayed = await ended(move, { name, number: index + 1, total: installs.length });
      if (signal.aborted) return;
      yield stayed === null ? { name, to } : { name, stayed };
    } catch (error) {
      if (!(error instanceof InvalidRequest || error instanceof Conflict)) throw error;
      yield { name, stayed: error.message };
    }
  }
}
