import type { Queries } from '../../database/database.ts';
import { type Clock, timestamp } from '../../lib/clock.ts';
import { DAY_MS } from '../../lib/durations.ts';
import { installsWithoutBackupSince } from './daily-store.ts';

/** A daily backup may be late by a night. */
const RECENT_MS = 2 * DAY_MS;

/** Names of the active installs that are older than two days and have no completed backup of that time, oldest first. */
export function withoutRecentBackup(queries: Queries, clock: Clock): Promise<string[]> {
  return installsWithoutBackupSince(queries, timestamp(clock, -RECENT_MS));
}
