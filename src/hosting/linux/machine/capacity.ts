import { statfs } from 'node:fs/promises';
import { totalmem } from 'node:os';

/** Memory that an idle install holds (its PHP and its Redis) with some for those that work: measured 14 MB idle, 52 MB at work. */
const MEMORY_PER_INSTALL = 32 * 1024 * 1024;
/** What the database server, the web server and the system need for themselves. */
const MEMORY_OF_THE_MACHINE = 1024 * 1024 * 1024;
const DISK_PER_INSTALL = 1024 * 1024 * 1024;

/** How many installs a machine of that size has room for; at least one. Sizes in bytes. */
export function capacityFor({ memory, disk }: { memory: number; disk: number }): number {
  const byMemory = (memory - MEMORY_OF_THE_MACHINE) / MEMORY_PER_INSTALL;
  const byDisk = disk / DISK_PER_INSTALL;
  return Math.max(1, Math.floor(Math.min(byMemory, byDisk)));
}

/** How many installs this machine has room for, with their homes on the file system of `folder`. */
export async function capacityOfMachine(folder: string): Promise<number> {
  const { blocks, bsize } = await statfs(folder);
  return capacityFor({ memory: totalmem(), disk: blocks * bsize });
}
