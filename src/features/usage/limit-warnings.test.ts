import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Person, startTestHomeport, type TestHomeport } from '../../../test/homeport.ts';
import { mailsTo } from '../../../test/mails.ts';
import { type ManualClock, manualClock } from '../../../test/manual-clock.ts';
import { timestamp } from '../../lib/clock.ts';
import { DAY_MS } from '../../lib/durations.ts';
import { storeMeasurement } from './collect-store.ts';
import { checkLimits, reachedThreshold } from './limit-warnings.ts';

let clock: ManualClock;
let homeport: TestHomeport;
let accountId: string;
let owner: Person;
let install: { id: string };

beforeAll(async () => {
  clock = manualClock(new Date('2026-05-10T12:00:00Z'));
  homeport = await startTestHomeport({ clock });
  ({ accountId, owner } = await homeport.ownedAccount());
  install = await homeport.install(owner, accountId);
});
afterAll(() => homeport?.remove());

/** Sets the traffic of a day and checks the limits. */
async function use(day: string, visits: number, bytes = 0): Promise<void> {
  const { database, queue } = homeport.platform;
  const key = { install_id: install.id, day, source: 'test', account_id: accountId };
  const figures = { requests: visits, visits, bytes };
  await database.write(async (transaction) => {
    await transaction.queries
      .insertInto('usage_traffic')
      .values({ ...key, ...figures })
      .onConflict((conflict) => conflict.columns(['install_id', 'day', 'source']).doUpdateSet(figures))
      .execute();
    await queue.enqueue(transaction, checkLimits, { payload: {}, lane: null });
  });
  await homeport.idle();
}

const subjects = (email: string) =>
  mailsTo(homeport, email)
    .map(({ subject }) => subject)
    .filter((subject) => subject.includes('has used'))
    .map((subject) => subject.replace(/^.* has used/, ''));

it('a threshold counts from exactly its part of the limit on', () => {
  expect([0, 79, 80, 99, 100, 1_000].map((used) => reachedThreshold(used, 100))).toEqual([
    ...[null, null, 80, 80, 100, 100],
  ]);
  expect([reachedThreshold(0, 0), reachedThreshold(1, 0)]).toEqual([null, 100]);
});

it('owners are warned once for each limit, threshold and month', async () => {
  const second = await homeport.person(accountId, 'owner');
  const member = await homeport.person(accountId, 'full');
  await homeport.services.usage.setLimits(accountId, { visitors: 100, bandwidth: 1_000, storage: 4_000 });
  const [mine, theirs] = [owner, second].map(({ email }) => email);
  await use('2026-05-09', 79);
  expect(subjects(mine ?? '')).toEqual([]);
  await use('2026-05-10', 1);
  await use('2026-05-10', 5);
  for (const email of [mine ?? '', theirs ?? '']) expect(subjects(email)).toEqual([' 80 % of its visits']);
  await use('2026-05-10', 30, 5_000);
  await use('2026-05-10', 40, 6_000);
  const both = [' 80 % of its visits', ' 100 % of its visits', ' 100 % of its bandwidth'];
  expect(subjects(mine ?? '').toSorted()).toEqual(both.toSorted());
  expect(subjects(member.email)).toEqual([]);
  const [mail] = mailsTo(homeport, mine ?? '').filter(({ subject }) => subject.includes('80 %'));
  expect(mail?.text).toContain('80 of 100 visits this month');
  expect(mail?.text).toContain(`/accounts/${accountId}/usage`);
  expect(mail?.text).toContain('/unsubscribe/');
});

it('files and databases count together, and traffic counts from zero in the next month', async () => {
  const before = subjects(owner.email).length;
  clock.advance(25 * DAY_MS);
  await use('2026-06-04', 10);
  expect(subjects(owner.email)).toHaveLength(before);
  const measured = {
    fileBytes: 3_000,
    database: { bytes: 300, dataBytes: 200, tables: 3, autoloadedBytes: null },
  };
  await homeport.platform.database.write(({ queries }) =>
    storeMeasurement(queries, install.id, measured, timestamp(clock)),
  );
  await use('2026-06-04', 85);
  expect(subjects(owner.email).slice(before).toSorted()).toEqual([
    ' 80 % of its storage',
    ' 80 % of its visits',
  ]);
});
