import { statfs } from 'node:fs/promises';
import { availableParallelism, freemem, loadavg, totalmem } from 'node:os';
import type { MachineState } from '../../contract/host.ts';

/** What this machine has left, with the websites on the file system of `folder`. */
export async function stateOfMachine(folder: string): Promise<MachineState> {
  const { blocks, bavail, bsize } = await statfs(folder);
  const [load = 0] = loadavg();
  return {
    processors: availableParallelism(),
    load,
    // Linux's MemAvailable, which includes caches.
    memory: { total: totalmem(), free: freemem() },
    disk: { total: blocks * bsize, free: bavail * bsize },
  };
}
