import type { Queries } from '../../database/database.ts';
import type { HostMachine } from '../../hosting/contract/host.ts';
import { platformIdOf } from './edge-routes-store.ts';
import { findLoss } from './store.ts';

/**
 * Makes a host that was given up serve nothing: every website is set aside, with its data, and its edge forwards nothing and refuses all others. Nothing
 * is deleted. Ends early if the operator takes the host back meanwhile. Returns the number of websites that it served.
 */
export async function serveNothing(
  reader: Queries,
  machine: Pick<HostMachine, 'describe' | 'heldInstalls' | 'setAside' | 'joinEdges'>,
  hostId: string,
): Promise<number> {
  const description = await machine.describe();
  if (description.id !== hostId) throw new Error(`it identifies itself as the host ${description.id}`);
  const platform = await platformIdOf(reader);
  // It belongs to another platform by now, or never had a website of this one.
  if (platform === undefined || description.platform !== platform) return 0;
  if ((description.forwarding?.identity ?? null) !== null) await machine.joinEdges(null, []);
  let stopped = 0;
  for (let after: string | null = null; ; ) {
    const { installs }: Awaited<ReturnType<HostMachine['heldInstalls']>> = await machine.heldInstalls(after);
    const served = installs.filter(({ digest }) => digest !== null).map(({ id }) => id);
    if ((await findLoss(reader, hostId))?.lost_at == null) return stopped;
    if (served.length > 0) await machine.setAside(platform, served);
    stopped += served.length;
    after = installs.at(-1)?.id ?? null;
    if (after === null) return stopped;
  }
}
