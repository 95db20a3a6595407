import { readFile } from 'node:fs/promises';
import { writeDurably } from '../../lib/durable-file.ts';
import { parseUuid } from '../../lib/ids.ts';
import { ifThere } from '../../lib/if-there.ts';
import { PermanentHostError } from '../contract/errors.ts';

/** The platform of a host, kept in a file. */
export interface PlatformMembership {
  /** The platform's id; null for none yet. Throws an Error for a file without an id. */
  platform(): Promise<string | null>;
  belongTo(platform: string): Promise<void>;
  /** Rejects with a PermanentHostError if the host belongs to another platform, or to none yet. */
  requireOwn(platform: string): Promise<void>;
}

export function createPlatformMembership(file: string): PlatformMembership {
  async function platform(): Promise<string | null> {
    const text = await ifThere(readFile(file, 'utf8'));
    if (text === null) return null;
    const id = parseUuid(text.trim());
    if (id === undefined) throw new Error(`${file} holds no id of a platform`);
    return id;
  }
  return {
    platform,
    belongTo: (id) => writeDurably(file, `${id}\n`),
    async requireOwn(id) {
      if ((await platform()) === id) return;
      throw new PermanentHostError(
        'This host belongs to another platform, and puts no website aside for this one.',
      );
    },
  };
}
