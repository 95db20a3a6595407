import { Value } from 'typebox/value';
import type { Queries } from '../../database/database.ts';
import { DAY_MS } from '../../lib/durations.ts';
import { Unprocessable } from '../../lib/failures.ts';
import { copyInstall, prepareCopy, restoreBackup } from '../backups/jobs.ts';
import { payloadsOf } from '../hosts/store.ts';
import { MOST_DAYS_AHEAD } from './jobs.ts';
import { nameLeftBehind } from './ownership-store.ts';

/** Open transfers from one account. */
export const MOST_OPEN = 20;

/** Parses the time of a transfer. Throws Unprocessable unless it is in the future, and not too far. */
export function readSchedule(given: string | null | undefined, now: Date): string | null {
  if (given === null || given === undefined) return null;
  const at = Date.parse(given);
  // The schema accepts leap seconds; Date.parse does not.
  if (at > now.getTime() && at <= now.getTime() + MOST_DAYS_AHEAD * DAY_MS) return new Date(at).toISOString();
  throw unprocessable(
    'scheduled_time',
    'out_of_range',
    `scheduled_time must be in the future and at most ${MOST_DAYS_AHEAD} days ahead`,
  );
}

/**
 * Why a site cannot be transferred now, as one sentence for its owner; null if it can.
 * - Sandboxes stay in their account.
 * - A name that an install of the site serves must not be on an install that stays: the account could take it back.
 */
export async function obstacleTo(
  queries: Queries,
  site: { account_id: string; sandbox: boolean },
  installIds: readonly string[],
): Promise<string | null> {
  if (site.sandbox) return 'Sandbox sites cannot be transferred.';
  const left = await nameLeftBehind(queries, site.account_id, installIds);
  if (!left) return null;
  return `The domain ${left.name} is also on the install ${left.install}, which stays. Remove it there first.`;
}

/** Whether an unfinished copy or restore goes from one of the installs to an install outside the site, or back. */
export async function hasCrossingCopy(queries: Queries, installIds: readonly string[]): Promise<boolean> {
  const moved = new Set(installIds);
  for (const { name, payload: schema } of [restoreBackup, prepareCopy, copyInstall]) {
    for (const payload of await payloadsOf(queries, name, ['queued', 'running'])) {
      if (!Value.Check(schema, payload)) continue;
      const from = payload.from_id ?? payload.install_id;
      if (moved.has(from) !== moved.has(payload.install_id)) return true;
    }
  }
  return false;
}

export function unprocessable(field: string, code: string, message: string): Unprocessable {
  return new Unprocessable(message, [
    { resource: 'SiteTransfer', field, type: 'invalid_value', code, message },
  ]);
}
