import { rm } from 'node:fs/promises';
import { timestamp } from '../lib/clock.ts';
import { codeOf } from '../lib/error-code.ts';
import { messageOf } from '../lib/error-message.ts';
import type { Platform } from '../platform/platform.ts';
import type { BackedUpWebsite } from './manifest.ts';
import { hadJobSince } from './runs-store.ts';
import type { StoredPack, WebsiteParts, WebsiteStore } from './website-parts.ts';

/** Attempts to copy a website that a job changed meanwhile. */
const TRIES = 3;

interface StoringOptions {
  install: { id: string; name: string };
  backupId: string;
  to: WebsiteStore;
  signal: AbortSignal | undefined;
}

/**
 * Stores one website, again if a job of the install ran meanwhile. A customer's fault (an unreadable or constantly changing file) must not
 * stop the backup of the others: then these files are left out, with the reason, and no pack is needed.
 */
export async function storeUnlessChanging(
  { database, clock }: Pick<Platform, 'database' | 'clock'>,
  websites: WebsiteParts,
  { install, backupId, to, signal }: StoringOptions,
): Promise<Pick<BackedUpWebsite, 'missing' | 'changing'> & { packs: StoredPack[] }> {
  for (let tried = 1; ; tried++) {
    const began = timestamp(clock);
    let missing: string | null = null;
    let packs: StoredPack[] = [];
    try {
      packs = await websites.store(install, backupId, to, signal);
    } catch (error) {
      signal?.throwIfAborted();
      // A system error concerns the disk or the machine.
      if (codeOf(error) !== undefined) throw error;
      missing = messageOf(error);
    }
    const changing = await hadJobSince(database.reader, install.id, began);
    const isLast = !changing || tried === TRIES;
    if (missing === null && isLast) return { missing, changing, packs };
    await rm(to.manifest, { force: true });
    if (isLast) return { missing, changing, packs: [] };
  }
}
