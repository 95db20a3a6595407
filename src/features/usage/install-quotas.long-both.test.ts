import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Static, TSchema } from 'typebox';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { field } from '../../../test/client.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../../../test/homeport.ts';
import { mailsTo } from '../../../test/mails.ts';
import { type ManualClock, manualClock } from '../../../test/manual-clock.ts';
import { signedIn } from '../../../test/portal-client.ts';
import type { JobType } from '../../jobs/job.ts';
import { timestamp } from '../../lib/clock.ts';
import { HOUR_MS, MINUTE_MS } from '../../lib/durations.ts';
import { mailNotifications } from '../accounts/notifications/jobs.ts';
import { storeMeasurement } from './collect-store.ts';
import { warnedThreshold } from './install-quotas-store.ts';
import { measureNearlyFull, refreshStorage } from './jobs.ts';

const LIMIT = 200;

let clock: ManualClock;
let homeport: TestHomeport;
let accountId: string;
let owner: Person;
let shop: { id: string; name: string };
let blog: { id: string; name: string };

beforeAll(async () => {
  clock = manualClock(new Date('2026-05-10T12:00:00Z'));
  const environment = { HOMEPORT_INSTALL_FILES: String(LIMIT), HOMEPORT_INSTALL_DISK_GB: '1' };
  homeport = await startTestHomeport({ clock, environment });
  ({ accountId, owner } = await homeport.ownedAccount());
  shop = await homeport.install(owner, accountId);
  blog = await homeport.install(owner, accountId);
  await homeport.setPassword(owner, 'a long password of the owner');
});
afterAll(() => homeport?.remove());

/** Adds this many files and folders to the website of the shop. */
function fill(count: number): void {
  const folder = join(homeport.config.dataDir, 'host', 'installs', shop.id, 'files', 'many');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  for (let index = 1; index < count; index++) writeFileSync(join(folder, `${index}.txt`), '');
}

const measureAll = () => run(refreshStorage, { install_ids: [shop.id, blog.id] });
const measureAfterAnHour = async () => {
  clock.advance(HOUR_MS);
  await run(measureNearlyFull, {});
};

async function run<Payload extends TSchema>(kind: JobType<Payload>, payload: Static<Payload>): Promise<void> {
  const { database, queue } = homeport.platform;
  await database.write((transaction) => queue.enqueue(transaction, kind, { payload, lane: null }));
  await homeport.idle();
  await homeport.services.eventPlacement.place();
}

const percentOf = (threshold: number) => `${shop.name} has reached ${threshold} % of its limit of files`;

/** Titles of the notifications of the owner. */
async function unread(): Promise<unknown[]> {
  const { body } = await owner.client.get('/user/notifications?read=false');
  return listOf(field(body, 'results')).map((one) => field(one, 'title'));
}

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

/** Sends the emails that are due, and returns the subjects of all so far about limits. */
async function mails(): Promise<string[]> {
  clock.advance(2 * MINUTE_MS);
  await run(mailNotifications, {});
  return mailsTo(homeport, owner.email)
    .map(({ subject }) => subject)
    .filter((subject) => subject.includes('limit'));
}

async function attention(): Promise<unknown[]> {
  const portal = await signedIn(homeport, owner);
  return listOf(field((await portal.get(`/accounts/${accountId}/attention`)).body, 'results'));
}

async function eventsOfShop(): Promise<unknown[]> {
  const { body } = await owner.client.get(`/events?install_id=${shop.id}&type=install.limit_reached`);
  return listOf(field(body, 'results')).map((event) => field(event, 'data'));
}

const limitsOf = async () =>
  listOf(field((await owner.client.get(`/installs/${shop.id}/usage`)).body, 'limits'));

it('a threshold is reached at exactly its part, and left five points below', () => {
  const of = (before: number) =>
    [74, 75, 79, 80, 84, 85, 90, 94, 95, 99, 100, 120].map((used) => warnedThreshold(used, 100, before));
  expect(of(0)).toEqual([0, 0, 0, 80, 80, 80, 90, 90, 90, 90, 100, 100]);
  expect(of(80)).toEqual([0, 80, 80, 80, 80, 80, 90, 90, 90, 90, 100, 100]);
  expect(of(100)).toEqual([0, 80, 80, 80, 80, 90, 90, 90, 100, 100, 100, 100]);
});

it('users are notified of each threshold once, within the hour, until space is freed', async () => {
  fill(100);
  await measureAll();
  const [disk, files] = await limitsOf();
  expect(disk).toMatchObject({ limited: 'disk', limit: String(1024 ** 3) });
  expect(files).toMatchObject({ limited: 'files', limit: '200' });
  // The website's other files.
  const others = Number(field(files, 'used')) - 100;
  const { reader } = homeport.platform.database;
  const measured = () =>
    reader.selectFrom('usage_storage').select('measured_at').where('install_id', '=', blog.id).execute();
  const blogBefore = await measured();
  expect(await attention()).toEqual([]);

  fill(165 - others);
  await measureAfterAnHour();
  expect(await measured()).toEqual(blogBefore);
  expect(await unread()).toEqual([percentOf(80)]);
  expect(await mails()).toEqual([percentOf(80)]);
  await measureAfterAnHour();
  expect(await mails()).toEqual([percentOf(80)]);
  expect(await attention()).toMatchObject([
    {
      install_id: shop.id,
      reasons: [
        { kind: 'limit_reached', reason: 'The website has 82 % of the limit of 200 files and folders.' },
      ],
    },
  ]);

  fill(200 - others);
  await measureAfterAnHour();
  expect(await unread()).toEqual([percentOf(100)]);
  expect(await mails()).toEqual([percentOf(80), percentOf(100)]);
  const [mail] = mailsTo(homeport, owner.email).filter(({ subject }) => subject === percentOf(100));
  expect(mail?.text).toContain('Delete files that the website does not need');
  expect(mail?.text).toContain(`/installs/${shop.id}/usage`);
  expect(await eventsOfShop()).toEqual([
    { limited: 'files', threshold: 80, used: 165, limit: 200 },
    { limited: 'files', threshold: 100, used: 200, limit: 200 },
  ]);

  fill(100);
  await measureAfterAnHour();
  expect([await unread(), await attention()]).toEqual([[], []]);
  expect(await mails()).toHaveLength(2);
  expect(await eventsOfShop()).toHaveLength(2);
});

it('the notification ends with the limit, and hosts of earlier versions report none', async () => {
  const store = (limits: { bytes: number | null; files: number | null } | undefined) =>
    homeport.platform.database.write(({ queries }) =>
      storeMeasurement(
        queries,
        shop.id,
        { fileBytes: 95, files: 1, ...(limits === undefined ? {} : { limits }), database: null },
        timestamp(clock),
      ),
    );
  await store({ bytes: 100, files: null });
  await homeport.services.eventPlacement.place();
  expect(await unread()).toEqual([`${shop.name} has reached 90 % of its limit of disk space`]);
  await store({ bytes: null, files: null });
  expect(await unread()).toEqual([]);
  await store(undefined);
  expect(await limitsOf()).toEqual([]);
});
