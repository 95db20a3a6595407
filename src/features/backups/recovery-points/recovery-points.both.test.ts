import { randomUUID } from 'node:crypto';
import { Value } from 'typebox/value';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { text } from '../../../../test/client.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../../../../test/homeport.ts';
import { type ManualClock, manualClock } from '../../../../test/manual-clock.ts';
import { runningJob } from '../../../../test/running-job.ts';
import { checkRecoveryPoints } from '../../../cli/doctor/backups.ts';
import { PermanentHostError } from '../../../hosting/contract/errors.ts';
import type { PointOrder } from '../../../hosting/contract/recovery-points.ts';
import type { JobKind } from '../../../jobs/job.ts';
import { DAY_MS, MINUTE_MS } from '../../../lib/durations.ts';
import type { Platform } from '../../../platform/platform.ts';
import { setHost } from '../../hosts/placement-store.ts';
import { noteAnswer } from '../../hosts/store.ts';
import { newestBackups } from '../newest-backup-store.ts';
import { reconcileBackupsKind } from '../reconcile-backups.ts';
import { isAmong, restorableSnapshots } from '../restorable-store.ts';
import { recoveryAges } from './ages-store.ts';
import { recordRecoveryPoint } from './jobs.ts';
import { recordKind } from './record.ts';
import { type MachineSource, scheduleKind } from './schedule.ts';
import { createRecoveryPointService } from './service.ts';
import { pointsOf, stateOf } from './store.ts';

let homeport: TestHomeport;
let clock: ManualClock;
let owner: Person;
let accountId: string;
let platform: Platform;
let hostId: string;

/** What the host was asked, and how it answers. */
let orders: (PointOrder & { install: string })[];
let asked: string[];
let unchanged: Set<string>;
let refusal: Error | null;
/** The bases of websites that the host knows. */
let knownBases: Set<string>;

const fleet: MachineSource = {
  machine: async () => ({
    async recordPoint(install, order) {
      orders.push({ ...order, install: install.id });
      if (refusal !== null) throw refusal;
      const baseId = order.baseId !== null && knownBases.has(order.baseId) ? order.baseId : null;
      if (baseId === null) knownBases.add(order.pointId);
      const snapshot = { bytes: baseId === null ? 1000 : 10, files: 1, sha256: '0'.repeat(64) };
      return { snapshot, mark: `mark of ${order.pointId}`, baseId };
    },
    async unchangedWebsites(marked) {
      asked.push(...marked.map(({ installId }) => installId));
      return marked.map(({ installId }) => installId).filter((id) => unchanged.has(id));
    },
  }),
};

beforeAll(async () => {
  clock = manualClock(new Date('2026-03-04T12:00:00.000Z'));
  homeport = await startTestHomeport({ clock });
  ({ accountId, owner } = await homeport.ownedAccount());
  const { queue } = homeport.platform;
  platform = {
    ...homeport.platform,
    config: { ...homeport.config, host: 'linux', recoveryPointMinutes: 5 },
    // The worker of this platform must not take them.
    queue: {
      ...queue,
      enqueue: (transaction, kind, job) => queue.enqueue(transaction, kind, { ...job, delayMs: DAY_MS }),
    },
  };
  hostId = (await homeport.services.hosts.add('web1', 'https://10.0.0.1:8470')).host.id;
  await answers();
});
beforeEach(async () => {
  [orders, asked, unchanged, refusal, knownBases] = [[], [], new Set(), null, new Set()];
  await requested();
  await write(({ queries }) => queries.deleteFrom('installs').execute());
});
afterAll(() => homeport?.remove());

const { reader, write } = {
  reader: () => platform.database.reader,
  write: ((work) => platform.database.write(work)) as Platform['database']['write'],
};

async function answers(id = hostId): Promise<void> {
  const description = {
    ...{ id, capacity: 100, phpVersions: [], wordpressVersions: [], reservedNames: [] },
    ports: { http: 80, https: 443, ssh: 22 },
  };
  await write(({ queries }) => noteAnswer(queries, { description, at: clock.now().toISOString() }));
}

async function newInstall(onHost = hostId) {
  const install = await homeport.install(owner, accountId);
  await homeport.idle();
  await write(({ queries }) => setHost(queries, install.id, onHost));
  // Its first look is within a period from now.
  await look();
  return install;
}

async function run(kind: JobKind, payload: object): Promise<void> {
  const completion = await kind.run(payload, runningJob({ log: platform.log }));
  await write(async (transaction) => completion?.(transaction));
}

/** The points that were requested since, without their jobs, which another host would do. */
async function requested(): Promise<{ install_id: string; point_id: string }[]> {
  const jobs = await write(({ queries }) =>
    queries.deleteFrom('jobs').where('kind', '=', recordRecoveryPoint.name).returning('payload').execute(),
  );
  return jobs.map(({ payload }) => Value.Parse(recordRecoveryPoint.payload, payload));
}

const look = () => run(scheduleKind(platform, fleet), {});

/** Looks, and makes the points that are requested, until none is. */
async function round(): Promise<void> {
  await look();
  for (;;) {
    const points = await requested();
    for (const payload of points) await run(recordKind(platform, fleet), payload);
    if (points.length === 0) return;
  }
}

const tick = (minutes: number) => clock.advance(minutes * MINUTE_MS);
const ordersOf = ({ id }: { id: string }) => orders.filter(({ install }) => install === id);

test('an install is covered every few minutes, by changes since its first point', async () => {
  const shop = await newInstall();
  expect(orders).toEqual([]);
  tick(4);
  await round();
  expect(ordersOf(shop)).toMatchObject([{ baseId: null, keep: [] }]);
  const [first] = await pointsOf(reader(), shop.id);
  tick(4);
  await round();
  expect(ordersOf(shop).slice(1)).toMatchObject([{ baseId: first?.id, keep: [first?.id] }]);
  const [second] = await pointsOf(reader(), shop.id);
  expect(second?.base_id).toBe(first?.id);
  expect((await stateOf(reader(), shop.id))?.covered_at).toBe(second?.taken_at);
});

test('an install without changes is asked about, and gets no point', async () => {
  const shop = await newInstall();
  tick(4);
  await round();
  unchanged = new Set([shop.id]);
  for (let i = 0; i < 3; i++) {
    tick(4);
    await round();
  }
  expect(ordersOf(shop)).toHaveLength(1);
  expect(asked.filter((id) => id === shop.id)).toHaveLength(3);
  expect((await stateOf(reader(), shop.id))?.covered_at).toBe(clock.now().toISOString());
  // Asked once per period.
  await round();
  expect(asked.filter((id) => id === shop.id)).toHaveLength(3);
});

test('an install that has other work, lost data or a silent host is left out', async () => {
  const [busy, lost] = [await newInstall(), await newInstall()];
  tick(5);
  await write(async (transaction) => {
    const { queries } = transaction;
    await queries.updateTable('installs').set({ lost_data: 'x' }).where('id', '=', lost.id).execute();
    const work = { payload: { install_id: busy.id, point_id: randomUUID() }, lane: busy.id };
    await platform.queue.enqueue(transaction, { ...recordRecoveryPoint, name: 'other_work' }, work);
  });
  await round();
  expect([...ordersOf(busy), ...ordersOf(lost)]).toEqual([]);
  await write(async ({ queries }) => {
    await queries.deleteFrom('jobs').where('kind', '=', 'other_work').execute();
    await queries.updateTable('hosts').set({ reason: 'silent' }).where('id', '=', hostId).execute();
  });
  await round();
  expect(ordersOf(busy)).toEqual([]);
  await answers();
  await round();
  expect(ordersOf(busy)).toHaveLength(1);
});

test('a host makes two points at once, and the next ones follow at their end', async () => {
  const installs = [await newInstall(), await newInstall(), await newInstall()];
  tick(5);
  await look();
  const first = await requested();
  expect(first).toHaveLength(2);
  const [one] = first;
  if (one === undefined) throw new Error('no point');
  await run(recordKind(platform, fleet), one);
  expect((await requested()).length).toBeGreaterThan(0);
  await round();
  for (const install of installs) expect(ordersOf(install).length).toBeGreaterThan(0);
});

test('a host with more installs that are due than it can save does not hide those of another', async () => {
  const busy = [await newInstall(), await newInstall(), await newInstall(), await newInstall()];
  tick(5);
  await look();
  expect(await requested()).toHaveLength(2);
  const { host } = await homeport.services.hosts.add('web2', 'https://10.0.0.2:8470');
  await answers(host.id);
  // Due after all of the first host.
  const other = await newInstall(host.id);
  tick(4);
  await look();
  const installs = (await requested()).map(({ install_id }) => install_id);
  expect(installs).toContain(other.id);
  expect(installs.filter((id) => busy.some((install) => install.id === id))).toHaveLength(2);
});

test('a failed point is tried again later, and doctor and metrics say that the install is late', async () => {
  const shop = await newInstall();
  tick(5);
  await round();
  refusal = new PermanentHostError('The place of the backups is not available.');
  tick(5);
  await look();
  const [payload] = await requested();
  if (payload === undefined) throw new Error('no point');
  const kind = recordKind(platform, fleet);
  await expect(run(kind, payload)).rejects.toThrow('not available');
  const failure = { jobId: randomUUID(), attempts: 1, code: 'failed' as const };
  await write(
    (transaction) =>
      kind.giveUp?.(payload, { ...failure, reason: 'The place is full.' }, transaction) ?? Promise.resolve(),
  );
  await look();
  expect(await requested()).toEqual([]);
  tick(8);
  const [finding] = await checkRecoveryPoints(platform.database, platform.config, clock);
  expect(finding?.message).toContain(`${shop.name} (The place is full)`);
  const before = new Date(clock.now().getTime() - 10 * MINUTE_MS).toISOString();
  expect(await recoveryAges(reader(), before)).toMatchObject([{ host: 'web1', late: 1 }]);
  refusal = null;
  await round();
  expect(await checkRecoveryPoints(platform.database, platform.config, clock)).toMatchObject([
    { state: 'ok' },
  ]);
  expect((await recoveryAges(reader(), before))[0]?.late).toBe(0);
});

test('a lost website is restored from its newest point, if the host has its base, else from its backup', async () => {
  const shop = await newInstall();
  const wanted = { description: 'one', notification_emails: [] };
  const { body } = await owner.client.post(`/installs/${shop.id}/backups`, wanted);
  const backup = text(body, 'id');
  await write(({ queries }) =>
    queries
      .updateTable('backups')
      .set({ status: 'completed', verified_at: clock.now().toISOString() })
      .where('id', '=', backup)
      .execute(),
  );
  await write(({ queries }) => queries.deleteFrom('jobs').where('lane', '=', shop.id).execute());
  for (let i = 0; i < 2; i++) {
    tick(5);
    await round();
  }
  unchanged = new Set([shop.id]);
  tick(5);
  await round();
  const [newest, base] = await pointsOf(reader(), shop.id);
  const found = await restorableSnapshots(reader(), shop.id);
  expect(found.map(({ id }) => id)).toEqual([newest?.id, base?.id, backup]);
  // Nothing changed since the point was made.
  expect(found[0]).toMatchObject({ base_id: base?.id, covered_at: clock.now().toISOString() });
  const best = (...held: (string | undefined)[]) =>
    found.find((one) => isAmong(one, new Set(held.filter((id) => id !== undefined))))?.id;
  expect(best(newest?.id, base?.id, backup)).toBe(newest?.id);
  expect(best(newest?.id, backup)).toBe(backup);
  // Doctor names the same one.
  const named = async () => (await newestBackups(reader(), [shop.id])).get(shop.id);
  expect(await named()).toMatchObject({ id: newest?.id, pointOf: expect.any(String) });
  await write(({ queries }) =>
    queries
      .updateTable('backups')
      .set({ created_at: clock.now().toISOString() })
      .where('id', '=', backup)
      .execute(),
  );
  expect(await named()).not.toHaveProperty('pointOf');
});

test('a point that is gone from the place of the backups covers nothing, and is replaced without a change', async () => {
  const shop = await newInstall();
  const wanted = { description: 'one', notification_emails: [] };
  const { body } = await owner.client.post(`/installs/${shop.id}/backups`, wanted);
  const id = text(body, 'id');
  await write(async ({ queries }) => {
    await queries.updateTable('backups').set({ status: 'completed' }).where('id', '=', id).execute();
    await queries.deleteFrom('jobs').where('lane', '=', shop.id).execute();
  });
  for (let i = 0; i < 2; i++) {
    tick(5);
    await round();
  }
  unchanged = new Set([shop.id]);
  const [newest, base] = await pointsOf(reader(), shop.id);
  const compare = (...held: (string | undefined)[]) => {
    const host = { heldBackups: async () => held.filter((one) => one !== undefined) };
    const others = { list: async () => [], noteMissing: async () => {} };
    return run(reconcileBackupsKind(platform, host, others), { host_id: hostId });
  };
  await compare(id, newest?.id, base?.id);
  expect(await pointsOf(reader(), shop.id)).toEqual([newest, base]);
  await compare(id, base?.id);
  expect(await pointsOf(reader(), shop.id)).toEqual([base]);
  expect((await stateOf(reader(), shop.id))?.covered_at).toBe(base?.taken_at);
  tick(5);
  await round();
  expect(await pointsOf(reader(), shop.id)).toHaveLength(2);
  await compare(id);
  expect((await stateOf(reader(), shop.id))?.covered_at).toBeNull();
});

test('a point whose restore waits is kept, and one that is deleted can no longer be chosen', async () => {
  const shop = await newInstall();
  for (let i = 0; i < 3; i++) {
    tick(5);
    await round();
  }
  const [, former] = await pointsOf(reader(), shop.id);
  // Only the newest is left after a daily backup.
  const wanted = { description: 'one', notification_emails: [] };
  const { body } = await owner.client.post(`/installs/${shop.id}/backups`, wanted);
  tick(1);
  const change = { status: 'completed' as const, scheduled: true, created_at: clock.now().toISOString() };
  await write(async ({ queries }) => {
    await queries.updateTable('backups').set(change).where('id', '=', text(body, 'id')).execute();
    await queries.deleteFrom('jobs').where('lane', '=', shop.id).execute();
  });
  const service = createRecoveryPointService(platform);
  const { name } = shop;
  const record = () => run(recordKind(platform, fleet), { install_id: shop.id, point_id: randomUUID() });
  const { jobId } = await service.requestRestore(name, former?.id);
  await record();
  expect(ordersOf(shop).at(-1)?.keep).toContain(former?.id);
  expect(await pointsOf(reader(), shop.id)).toContainEqual(former);
  await write(({ queries }) => queries.deleteFrom('jobs').where('id', '=', jobId).execute());
  refusal = new PermanentHostError('It fails.');
  await expect(record()).rejects.toThrow('It fails.');
  expect(ordersOf(shop).at(-1)?.keep).not.toContain(former?.id);
  await expect(service.requestRestore(name, former?.id)).rejects.toThrow('has no recovery point');
});
