import { createHash } from 'node:crypto';
import type { Transaction } from '../database/database.ts';
import { timestamp } from '../lib/clock.ts';
import type { Platform } from './platform.ts';

/** Settings that stored failures depend on. */
export interface WatchedSettings {
  /** Stored: renaming it counts as a change. */
  name: string;
  /** Their values. Only a hash is stored. */
  values: readonly unknown[];
  /** Forgets the failures that former values may have caused. Idempotent. */
  changed(transaction: Transaction): Promise<void>;
}

/**
 * Forgets failures that settings caused which have changed since the last start. Without this, they stay until something tries again,
 * and nothing does if the setting was removed.
 */
export async function settleChangedSettings(
  { database, clock, log }: Pick<Platform, 'database' | 'clock' | 'log'>,
  watched: readonly WatchedSettings[],
): Promise<void> {
  for (const { name, values, changed } of watched) {
    const fingerprint = createHash('sha256').update(JSON.stringify(values)).digest('hex');
    const seen = await database.reader
      .selectFrom('seen_settings')
      .select('fingerprint')
      .where('name', '=', name)
      .executeTakeFirst();
    if (seen?.fingerprint === fingerprint) continue;
    await database.write(async (transaction) => {
      await changed(transaction);
      const row = { fingerprint, seen_at: timestamp(clock) };
      await transaction.queries
        .insertInto('seen_settings')
        .values({ name, ...row })
        .onConflict((conflict) => conflict.column('name').doUpdateSet(row))
        .execute();
    });
    if (seen !== undefined)
      log.info({ settings: name }, 'settings have changed, so their failures are forgotten');
  }
}
