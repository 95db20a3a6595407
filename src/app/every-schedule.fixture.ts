import { expect } from 'vitest';
import { type DatabasePlace, migratedPlace, silent } from '../../test/database.ts';
import type { TestHomeport } from '../../test/homeport.ts';
import type { ManualClock } from '../../test/manual-clock.ts';
import { openDatabase } from '../database/open.ts';
import { insertOwnedAccount } from '../features/accounts/account-users/store.ts';
import { insertHost } from '../features/hosts/store.ts';
import { DAY_MS } from '../lib/durations.ts';
import { fillAccount, generatedId } from './large-account.fixture.ts';

/** Statements of scheduled work that read more in a larger fleet, by their beginning, and why. One that no longer does must be taken out. */
export const KNOWN_SCHEDULED: Record<string, string> = {
  'delete from "certificate_attempts" where': 'only after a change of settings',
  'update "certificate_attempts" set "failures"': 'only after a change of settings',
  'select "id", "account_id", "name", "host_id", "state", "backup_id"':
    'the installs that were deleted within the time for which they are kept, once a day',
  'select "user_id" from "notifications"': 'an index of 1,000 notifications of each user at most',
  'select count(*) as "count" from (select "domain_id" from "domain_looks" limit': 'is limited',
};

const SERIES = '11';

/** A database of a platform with one account, whose installs are on a Linux host that does not answer. */
export async function linuxFleet(installs: number): Promise<{ place: DatabasePlace }> {
  const place = await migratedPlace();
  const database = openDatabase(place.settings, silent);
  const created_at = '2026-01-01T00:00:00.000Z';
  const [accountId, userId, hostId] = [0, 1, 2].map((n) => generatedId(SERIES, '0', n));
  if (accountId === undefined || userId === undefined || hostId === undefined) throw new Error('no ids');
  await database.write(async ({ queries }) => {
    await insertOwnedAccount(queries, {
      account: { id: accountId, name: 'Large' },
      owner: { id: userId, email: 'owner@large.example', first_name: 'Ada', last_name: 'Byron' },
      created_at,
    });
    await insertHost(queries, {
      ...{ id: hostId, name: 'silent', address: 'https://127.0.0.1:9', public_name: null },
      ...{ edge_addresses: [], created_at },
    });
  });
  await fillAccount(database, { accountId, userId, installs, series: SERIES, hostId });
  await database.close();
  return { place };
}

/** Takes a slot of each schedule that a server has, and waits for their jobs. */
export async function everySchedule(
  { platform, idle }: Pick<TestHomeport, 'platform' | 'idle'>,
  clock: ManualClock,
): Promise<void> {
  const slots = () =>
    platform.database.reader
      .selectFrom('schedule_runs')
      .select((eb) => ['schedule', eb.fn.countAll<number>().as('count')])
      .groupBy('schedule')
      .execute();
  await expect.poll(async () => (await slots()).length).toBeGreaterThan(0);
  // A new schedule begins with its next slot. Once the first of them has taken one, all of them have begun.
  for (let begun = await slots(); begun.some(({ count }) => count < 2); begun = await slots()) {
    const before = new Map(begun.map(({ schedule, count }) => [schedule, count]));
    clock.advance(DAY_MS);
    const waiting = async () =>
      (await slots()).filter(({ schedule, count }) => count === before.get(schedule));
    await expect.poll(waiting).toEqual([]);
  }
  await idle();
}
