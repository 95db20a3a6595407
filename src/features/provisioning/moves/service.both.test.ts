import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { type Person, startTestHomeport, type TestHomeport } from '../../../../test/homeport.ts';
import { setLabelsOfAccount } from '../../hosts/placement-store.ts';
import { compareHeld } from '../reconciliation.ts';
import { clearLane } from './jobs.ts';
import { changeMove, latestMove, markCleared } from './store.ts';

let homeport: TestHomeport;
let owner: Person;
let accountId: string;
let install: { id: string; name: string };
const hosts = { web1: '', web2: '', web3: '' };

beforeAll(async () => {
  // Its worker knows no machines between which installs move, so that nothing runs.
  homeport = await startTestHomeport();
  ({ accountId, owner } = await homeport.ownedAccount());
  for (const name of ['web1', 'web2', 'web3'] as const) {
    const { host } = await homeport.services.hosts.add(name, 'https://10.0.0.2:8470');
    hosts[name] = host.id;
    await homeport.services.hosts.note({
      ...{ id: host.id, capacity: 10, phpVersions: [], wordpressVersions: [], reservedNames: [] },
      ...{ ports: { http: 80, https: 443, ssh: 22 }, movesWebsites: true },
    });
  }
});
afterAll(() => homeport?.remove());

beforeEach(async () => {
  install = await homeport.install(owner, accountId);
  await homeport.platform.database.write(({ queries }) =>
    queries
      .updateTable('installs')
      .set({ host_id: hosts.web1, php_version: null, wordpress_version: null })
      .where('id', '=', install.id)
      .execute(),
  );
});

const move = () => homeport.services.moves.request(install.name, 'web2');
const latest = () => latestMove(homeport.platform.database.reader, install.id);
const jobsIn = (lane: string) =>
  homeport.platform.database.reader
    .selectFrom('jobs')
    .select(['kind', 'state'])
    .where('lane', '=', lane)
    .where('kind', 'in', ['move_install', 'clear_move'])
    .execute();

it('queues one move of an install, and shows it', async () => {
  const { jobId, from, to } = await move();
  expect([from, to]).toEqual(['web1', 'web2']);
  await expect(move()).rejects.toThrow(/is being moved already/);
  expect(await homeport.services.moves.show(install.name)).toMatchObject({
    jobId,
    step: 'copying',
    hasCopy: false,
  });
  expect(await jobsIn(install.id)).toEqual([{ kind: 'move_install', state: 'queued' }]);
});

it('keeps the new machine in the platform until it has ended', async () => {
  await move();
  const { hosts: machines } = homeport.services;
  await expect(machines.remove('web2')).rejects.toThrow(/is being moved to or from/);
});

it('lets only one of two concurrent requests move an install', async () => {
  const outcomes = await Promise.allSettled([move(), move()]);
  expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
});

it('cancels a move until the new machine takes over, and moves again once nothing is left', async () => {
  await move();
  await homeport.services.moves.cancel(install.name);
  const { id = '' } = (await latest()) ?? {};
  expect(await jobsIn(install.id)).toEqual([{ kind: 'move_install', state: 'cancelled' }]);
  expect(await jobsIn(clearLane(id))).toEqual([{ kind: 'clear_move', state: 'queued' }]);
  await expect(move()).rejects.toThrow(/is still being removed/);
  const { database } = homeport.platform;
  await database.write(({ queries }) => markCleared(queries, id, new Date().toISOString()));
  await move();
  const { id: second = '' } = (await latest()) ?? {};
  await database.write(({ queries }) => changeMove(queries, second, ['copying'], { step: 'handing_over' }));
  await expect(homeport.services.moves.cancel(install.name)).rejects.toThrow(/takes over already/);
});

it('goes to another machine while what an earlier move left on a silent one is not removed', async () => {
  await move();
  const { id = '' } = (await latest()) ?? {};
  const { database } = homeport.platform;
  await database.write(({ queries }) => changeMove(queries, id, ['copying'], { step: 'failed' }));
  await expect(move()).rejects.toThrow(/left there is still being removed/);
  await homeport.services.moves.request(install.name, 'web3');
  expect(await latest()).toMatchObject({ step: 'copying', to_host: hosts.web3 });
});

it('is ended by the deletion of the install, which removes what it left', async () => {
  await move();
  const { id = '' } = (await latest()) ?? {};
  expect((await owner.client.delete(`/installs/${install.id}`)).status).toBe(204);
  expect(await latest()).toMatchObject({ step: 'cancelled' });
  expect(await jobsIn(clearLane(id))).toHaveLength(1);
});

it('leaves no former copy behind if the install is deleted between the switch and the end of its move', async () => {
  await move();
  const { id = '' } = (await latest()) ?? {};
  const { database } = homeport.platform;
  await database.write(({ queries }) => changeMove(queries, id, ['copying'], { step: 'switched' }));
  expect((await owner.client.delete(`/installs/${install.id}`)).status).toBe(204);
  // Its former copy is what the removal looks for.
  expect(await latest()).toMatchObject({ step: 'moved' });
  expect(await jobsIn(clearLane(id))).toHaveLength(1);
});

it('goes to no machine that the account of the install does not take', async () => {
  const { hosts: machines } = homeport.services;
  const want = (labels: string[]) =>
    homeport.platform.database.write(({ queries }) => setLabelsOfAccount(queries, accountId, labels));
  await machines.change('web2', { labels: ['ssd'], reserved: true });
  await expect(move()).rejects.toThrow(/"web2" is reserved .*homeport account placement/);
  await want(['eu']);
  await expect(move()).rejects.toThrow(/wants hosts with eu, and "web2" has ssd/);
  await want(['ssd']);
  await move();
  await want([]);
  await machines.change('web2', { labels: [], reserved: false });
});

it('has copies on two machines, of which neither is an unknown website', async () => {
  const inventory = {
    heldInstalls: async (after: string | null) => ({
      platform: null,
      installs: after === null ? [{ id: install.id, name: install.name, hostnames: [], digest: null }] : [],
    }),
    belongTo: async () => {},
    setAside: async () => [],
  };
  const strangersAt = async (host: string) =>
    (await compareHeld(homeport.platform.database.reader, inventory, host)).strangers.map(({ id }) => id);
  expect(await strangersAt(hosts.web2)).toEqual([install.id]);
  await move();
  expect(await strangersAt(hosts.web1)).toEqual([]);
  expect(await strangersAt(hosts.web2)).toEqual([]);
});
