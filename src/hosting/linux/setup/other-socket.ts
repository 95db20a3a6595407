import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ifThere } from '../../../lib/if-there.ts';
import { createSystemctl } from '../daemons/systemctl.ts';
import { CONTROL_PLANE_SOCKET, WRITTEN_BY } from './service-unit.ts';

/**
 * Removes the socket unit of an earlier set-up, because systemd holds no socket for the present address, such as a name. Connections to the
 * former address would start the service and wait in vain. Leaves a unit of the operator alone. `folder`: that of units. Returns whether it
 * was there.
 */
export async function removeOtherSocket(folder: string, program = 'systemctl'): Promise<boolean> {
  const file = join(folder, CONTROL_PLANE_SOCKET);
  const text = await ifThere(readFile(file, 'utf8'));
  if (text === null || !text.startsWith(WRITTEN_BY)) return false;
  const system = createSystemctl(program);
  await system.run('stop', CONTROL_PLANE_SOCKET);
  await system.disable(CONTROL_PLANE_SOCKET);
  await rm(file, { force: true });
  await system.reload();
  return true;
}
