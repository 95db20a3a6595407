import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { type Person, startTestHomeport, type TestHomeport } from '../../../test/homeport.ts';
import { mailsTo } from '../../../test/mails.ts';
import { type ManualClock, manualClock } from '../../../test/manual-clock.ts';
import type {
  AvailableUpdate,
  UpdateOrder,
  WantedUpdates,
} from '../../hosting/contract/wordpress-updates.ts';
import { type ServedMachine, serveMachine } from '../../hosting/remote/embedded-machine.fixture.ts';
import { timestamp } from '../../lib/clock.ts';
import { DAY_MS, HOUR_MS } from '../../lib/durations.ts';
import { environment } from '../hosts/fleet.fixture.ts';
import { lastFetches } from './fetch-store.ts';
import { fetchReleases, scheduleUpdates } from './jobs.ts';
import { WEEKDAYS } from './policy.ts';
import { findUpdate, insertUpdate } from './store.ts';

const RELEASE = '6.1.9';
const OPERATOR = 'operator@homeport.example';
const plugin = (to: string): AvailableUpdate => ({
  kind: 'plugin',
  id: 'shop/shop.php',
  name: 'Shop',
  from: '1.0',
  to,
});

let machine: ServedMachine;
let homeport: TestHomeport;
let clock: ManualClock;
let accountId: string;
let owner: Person;
let installs: { id: string; name: string }[];
/** The requests to the host: names of installs with the wanted updates. */
let planned: [name: string, wanted: WantedUpdates][];
let updated: [name: string, order: UpdateOrder][];
/** Installs on which every update is rolled back. */
let broken: Set<string>;
let available: AvailableUpdate[];

beforeAll(async () => {
  clock = manualClock(new Date('2026-01-12T10:00:00.000Z'));
  machine = await serveMachine({ wordpressVersions: [RELEASE, '6.1.2'] });
  homeport = await startTestHomeport({
    clock,
    environment: { ...environment(machine.runFolder), HOMEPORT_OPERATOR_EMAIL: OPERATOR },
  });
  ({ accountId, owner } = await homeport.ownedAccount());
  machine.machine.planUpdates = async ({ name }, wanted) => {
    planned.push([name, wanted]);
    const core: AvailableUpdate = {
      kind: 'core',
      id: 'wordpress',
      name: 'WordPress',
      from: '6.1.2',
      to: wanted.core ?? '',
    };
    return { updates: wanted.core === null ? available : [core], refused: [] };
  };
  machine.machine.updateWordpress = async ({ id, name }, order) => {
    updated.push([name, order]);
    const [first] = order.updates;
    const isBroken = broken.has(name);
    const version = order.updates.find(({ kind }) => kind === 'core')?.to;
    const present = machine.versions.get(id)?.wordpressVersion ?? RELEASE;
    if (!isBroken && version !== undefined) {
      machine.versions.set(id, { phpVersion: '8.4', wordpressVersion: version });
    }
    return {
      made: isBroken ? [] : [...order.updates],
      skipped: [],
      restored: isBroken,
      rolledBack: isBroken ? { update: first ?? null, reason: 'it broke' } : null,
      wordpressVersion: isBroken ? present : (version ?? present),
    };
  };
  installs = [];
  for (let count = 0; count < 4; count++) installs.push(await homeport.install(owner, accountId));
});
beforeEach(async () => {
  [planned, updated, broken, available] = [[], [], new Set(), []];
  clock.advance(30 * DAY_MS);
  await homeport.platform.database.write(async ({ queries }) => {
    for (const table of ['wordpress_updates', 'core_rollouts', 'wordpress_update_policies'] as const) {
      await queries.deleteFrom(table).execute();
    }
  });
  for (const { id } of installs) await have(id, RELEASE);
});
afterAll(async () => {
  await homeport?.remove();
  await machine?.close();
});

async function have(id: string, version: string): Promise<void> {
  machine.versions.set(id, { phpVersion: '8.4', wordpressVersion: version });
  await homeport.platform.database.write(({ queries }) =>
    queries.updateTable('installs').set({ wordpress_version: version }).where('id', '=', id).execute(),
  );
}

const policy = ({ id }: { id: string }, change: object) =>
  owner.client.patch(`/installs/${id}/wordpress/update_policy`, change);

/** Runs the schedule and what it requests. */
async function tick(): Promise<void> {
  await homeport.platform.database.write(async (transaction) => {
    await homeport.platform.queue.enqueue(transaction, scheduleUpdates, {
      payload: {},
      lane: scheduleUpdates.name,
    });
  });
  await homeport.idle();
}

const old = async () => {
  for (const { id } of installs) await have(id, '6.1.2');
};
const names = () => updated.map(([name]) => name);

it('brings a release of the branch to one install, then to 5 %, then to the others', async () => {
  await old();
  await tick();
  expect(names()).toHaveLength(1);
  await tick();
  expect(names()).toHaveLength(2);
  await tick();
  expect(names().sort()).toEqual(installs.map(({ name }) => name).sort());
  await tick();
  expect(names()).toHaveLength(4);
  expect(await homeport.services.rollouts.list()).toMatchObject([
    { version: RELEASE, stopped_at: null, succeeded: 4, rolledBack: 0 },
  ]);
  const { body } = await owner.client.get(`/installs/${installs[0]?.id}`);
  expect(body).toMatchObject({ wp_version: RELEASE });
});

it('stops a release after a rollback, until the operator resumes it', async () => {
  await old();
  broken = new Set(installs.slice(0, 1).map(({ name }) => name));
  await tick();
  await tick();
  expect(names()).toEqual([...broken]);
  expect(await homeport.services.rollouts.list()).toMatchObject([
    {
      stopped_at: expect.any(String),
      reason: `1 of 1 updates to WordPress ${RELEASE} were rolled back or failed.`,
    },
  ]);
  expect(mailsTo(homeport, OPERATOR).map(({ subject }) => subject)).toEqual([
    `The rollout of WordPress ${RELEASE} stopped`,
  ]);
  await expect(homeport.services.rollouts.resume('7.0')).rejects.toThrow(
    'No rollout of WordPress 7.0 is stopped',
  );
  clock.advance(HOUR_MS);
  await homeport.services.rollouts.resume(RELEASE);
  for (let count = 0; count < 4; count++) await tick();
  // Not again on the install that was rolled back.
  expect(names().sort()).toEqual(installs.map(({ name }) => name).sort());
});

it('brings no release to an install where a user’s update to it was rolled back', async () => {
  await old();
  const [first, ...others] = installs;
  broken = new Set(first ? [first.name] : []);
  const path = `/installs/${first?.id}/wordpress/updates`;
  expect((await owner.client.post(path, { core: true })).status).toBe(202);
  await homeport.idle();
  expect(names()).toEqual([...broken]);
  updated = [];
  for (let count = 0; count < 4; count++) await tick();
  expect(names().sort()).toEqual(others.map(({ name }) => name).sort());
  expect(planned.filter(([name]) => name === first?.name)).toHaveLength(1);
  expect(await homeport.services.rollouts.list()).toMatchObject([{ succeeded: 3, rolledBack: 0 }]);
});

it('does not count an unnecessary update as a success, and tries it again after a day', async () => {
  await old();
  const plan = machine.machine.planUpdates;
  machine.machine.planUpdates = async ({ name }, wanted) => {
    planned.push([name, wanted]);
    return { updates: [], refused: [] };
  };
  try {
    for (let count = 0; count < 6; count++) await tick();
    // One install at a time: no wave begins without a success.
    expect(planned.map(([name]) => name).sort()).toEqual(installs.map(({ name }) => name).sort());
    expect(await homeport.services.rollouts.list()).toMatchObject([{ succeeded: 0, rolledBack: 0 }]);
    clock.advance(DAY_MS);
    await tick();
    expect(planned).toHaveLength(installs.length + 1);
  } finally {
    machine.machine.planUpdates = plan;
  }
});

it('leaves out installs that want no release, defer it, or are outside of their window', async () => {
  await old();
  const [none, deferred, late] = installs;
  if (!none || !deferred || !late) throw new Error('there are too few installs');
  await policy(none, { core: 'none' });
  const until = new Date(clock.now().getTime() + DAY_MS).toISOString();
  await owner.client.patch(`/installs/${deferred.id}`, { defer_wordpress_upgrades_until: until });
  const { body } = await policy(late, {
    maintenance_window: { days: ['sunday'], from_hour: 0, hours: 1, time_zone: 'UTC' },
  });
  expect(body).toMatchObject({ maintenance_window: { days: ['sunday'] } });
  for (let count = 0; count < 3; count++) await tick();
  expect(names()).toEqual([installs[3]?.name]);
  await owner.client.patch(`/installs/${deferred.id}`, { defer_wordpress_upgrades_until: null });
});

it('updates plugins every day or week, but not those that were rolled back', async () => {
  const [daily, weekly] = installs;
  if (!daily || !weekly) throw new Error('there are too few installs');
  const maintenance_window = { days: WEEKDAYS, from_hour: 0, hours: 24, time_zone: 'UTC' };
  await policy(daily, { plugins: 'daily', maintenance_window });
  await policy(weekly, { plugins: 'weekly', themes: 'weekly', maintenance_window });
  available = [plugin('1.1')];
  broken = new Set([daily.name]);
  await tick();
  expect(Object.fromEntries(planned)).toEqual({
    [daily.name]: { core: null, plugins: 'all', themes: [] },
    [weekly.name]: { core: null, plugins: 'all', themes: 'all' },
  });
  expect(names().sort()).toEqual([daily.name, weekly.name].sort());
  const [rollback] = mailsTo(homeport, owner.email).filter(
    ({ subject }) => subject === `An automatic update of ${daily.name} was rolled back`,
  );
  expect(rollback?.text).toContain('/unsubscribe/');
  await tick();
  clock.advance(DAY_MS);
  await tick();
  // Version 1.1 was rolled back there.
  expect([planned.length, updated.length]).toEqual([3, 2]);
  available = [plugin('1.1'), { ...plugin('1.2'), id: 'other.php' }];
  clock.advance(DAY_MS);
  await tick();
  expect(updated.at(-1)).toMatchObject([daily.name, { updates: [{ id: 'other.php' }] }]);
});

it('goes on without an install whose policy cannot be read', async () => {
  await old();
  const [first, second] = installs;
  if (!first || !second) throw new Error('there are too few installs');
  for (const install of [first, second]) await policy(install, { core: 'minor' });
  const store = (id: string, maintenance_window: string) =>
    homeport.platform.database.write(({ queries }) =>
      queries
        .updateTable('wordpress_update_policies')
        .set({ maintenance_window })
        .where('install_id', '=', id)
        .execute(),
    );
  await store(first.id, '{"days":1}');
  await store(second.id, '{"days":["monday"],"from_hour":0,"hours":1,"time_zone":"No/Where"}');
  for (let count = 0; count < 3; count++) await tick();
  expect(names().sort()).toEqual(
    installs
      .slice(2)
      .map(({ name }) => name)
      .sort(),
  );
});

it('ends updates whose jobs are gone', async () => {
  const [first] = installs;
  if (!first) throw new Error('there are too few installs');
  const { database, clock: now, random } = homeport.platform;
  const wanted = { core: null, plugins: 'all' as const, themes: [] };
  const id = random.uuid();
  await database.write(({ queries }) =>
    insertUpdate(queries, {
      ...{ id, install_id: first.id, cause: 'schedule', wanted },
      created_at: timestamp(now),
    }),
  );
  await tick();
  expect(await findUpdate(database.reader, id)).toMatchObject({ status: 'requested' });
  clock.advance(2 * DAY_MS + 1);
  await tick();
  expect(await findUpdate(database.reader, id)).toMatchObject({ status: 'failed' });
});

it('leaves out a host that does not answer', async () => {
  await old();
  const note = (reason: string | null) =>
    homeport.platform.database.write(({ queries }) => queries.updateTable('hosts').set({ reason }).execute());
  await note('it does not answer');
  await tick();
  await note(null);
  expect(planned).toEqual([]);
  await tick();
  expect(planned).toHaveLength(1);
});

it('lets hosts fetch releases, and notes why they could not', async () => {
  const { platform } = homeport;
  const fetched = async () => {
    await platform.database.write(async (transaction) => {
      await platform.queue.enqueue(transaction, fetchReleases, { payload: {}, lane: null });
    });
    await homeport.idle();
    return lastFetches(platform.database.reader);
  };
  machine.machine.addReleases = async () => ({ added: ['6.1.10'], failures: [] });
  expect(await fetched()).toMatchObject([{ reason: null }]);
  machine.machine.addReleases = async () => ({ added: [], failures: ['it is down', 'the disk is full'] });
  expect(await fetched()).toMatchObject([{ reason: 'it is down; the disk is full' }]);
});
