import { stat, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { ifThere } from '../../../lib/if-there.ts';
import { shownBytes } from '../../terminal/output.ts';

/** What an upgrade writes into a folder, which need not exist. */
export interface Need {
  folder: string;
  bytes: number;
}

/** A sentence about each file system without enough room for the needs of its folders together. */
export async function missingRoom(needs: readonly Need[]): Promise<string[]> {
  const systems = new Map<number, { folder: string; bytes: number; free: number }>();
  for (const { folder, bytes } of needs) {
    const present = await presentFolder(folder);
    const { dev } = await stat(present);
    const { bavail, bsize } = await statfs(present);
    const known = systems.get(dev) ?? { folder, bytes: 0, free: bavail * bsize };
    systems.set(dev, { ...known, bytes: known.bytes + bytes });
  }
  return [...systems.values()]
    .filter(({ bytes, free }) => bytes > free)
    .map(
      ({ folder, bytes, free }) =>
        `The file system of ${folder} has ${shownBytes(free)}, and the upgrade needs ${shownBytes(bytes)} there.`,
    );
}

/** Whether folders, which need not exist, are on one file system, so that a file can have a link in each. */
export async function isOneSystem(first: string, second: string): Promise<boolean> {
  const [{ dev }, other] = [await stat(await presentFolder(first)), await stat(await presentFolder(second))];
  return dev === other.dev;
}

async function presentFolder(folder: string): Promise<string> {
  for (let path = folder; ; path = dirname(path)) {
    if ((await ifThere(stat(path))) !== null) return path;
  }
}
