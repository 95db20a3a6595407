import { statfs } from 'node:fs/promises';
import { totalmem } from 'node:os';

/** Memory of an idle install (PHP and Redis) with a share for busy ones: measured 14 MB idle, 52 MB at work. */
const MEMORY_PER_INSTALL = 32 * 1024 * 1024;
/** Memory for the database server, the web server and the system. */
const MEMORY_OF_THE_MACHINE = 1024 * 1024 * 1024;
const DISK_PER_INSTALL = 1024 * 1024 * 1024;

/** How many installs a machine of this size can hold; at least one. Sizes in bytes. */
export function capacityFor({ memory, disk }: { memory: number; disk: number }): number {
  const byMemory = (memory - MEMORY_OF_THE_MACHINE) / MEMORY_PER_INSTALL;
  const byDisk = disk / DISK_PER_INSTALL;
  return Math.max(1, Math.floor(Math.min(byMemory, byDisk)));
}

/** How many installs this machine can hold, with their homes on the file system of `folder`. */
export async function capacityOfMachine(folder: string): Promise<number> {
  const { blocks, bsize } = await statfs(folder);
  return capacityFor({ memory: totalmem(), disk: blocks * bsize });
}
