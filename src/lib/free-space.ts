import { statfs } from 'node:fs/promises';

/** Free bytes of the file system of a folder. */
export type FreeSpace = (folder: string) => Promise<number>;

export const freeSpace: FreeSpace = async (folder) => {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
};

/** Work that fills the disk of all websites leaves this much of it. */
export const LEAST_FREE_BYTES = 1024 ** 3;
