import { readdir } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../../../../test/servers/free-port.ts';
import { certificateFor, eventually } from '../../policy/edge.fixture.ts';
import { createEdgeIdentity } from '../../remote/edge-identity.ts';
import { tablePaths } from './edge-options.ts';
import { type FleetServer, introduce, routeTo, startServers, type TestFleet } from './forwarding.fixture.ts';
import { siteState } from './nginx.fixture.ts';
import { createWebServer } from './web-server.ts';

let fleet: TestFleet;
let entry: FleetServer;
let serving: FleetServer;

beforeAll(async () => {
  fleet = await startServers(2, { lookEveryMs: 100 });
  const [first, second] = fleet.servers;
  if (first === undefined || second === undefined) throw new Error('no servers');
  [entry, serving] = [first, second];
});
afterAll(() => fleet.close());

const reachedBy = async ({ web }: FleetServer) => (await web.forwarding())?.reaches;

test('an edge counts as reached once it answered where it is, and while it is away', async () => {
  await eventually(async () => (await reachedBy(entry))?.includes(serving.hostId) === true);
  await serving.daemons.remove('nginx');
  expect(await entry.web.checkOtherEdges()).toHaveLength(1);
  expect(await reachedBy(entry)).toEqual([serving.hostId]);
  // A restart of the host keeps it.
  const again = createWebServer(entry.options);
  expect((await again.forwarding())?.reaches).toEqual([serving.hostId]);

  const elsewhere = { hostId: serving.hostId, host: '127.0.0.1', port: await freePort() };
  await entry.web.joinEdges(null, [elsewhere]);
  expect(await reachedBy(entry)).toEqual([]);
  await serving.web.repair();
  await introduce(fleet, entry);
  await eventually(async () => (await reachedBy(entry))?.includes(serving.hostId) === true);
});

test('a host that takes no part any more has no key of a website of others, and does not listen for them', async () => {
  const shop = siteState('shop', [{ name: 'shop.test', certificate: await certificateFor('shop.test') }]);
  await entry.web.setRoutes([routeTo(shop, serving.hostId)]);
  const { certificates, edges, routes, routedNames } = tablePaths(entry.layout);
  const kept = async () =>
    (await Promise.all([certificates, edges, routes, routedNames].map((folder) => readdir(folder))))
      .flat()
      .filter((name) => name !== 'index');
  expect((await kept()).length).toBeGreaterThan(3);
  await entry.web.stop();
  const apart = createWebServer({ ...entry.options, edgeForward: null });
  await apart.start([]);
  try {
    expect(await apart.forwarding()).toBe(null);
    expect(await kept()).toEqual([]);
    expect(await apart.heldRoutes(null)).toEqual([]);
    await eventually(async () => (await serving.web.checkOtherEdges()).length === 1);
    const identity = await createEdgeIdentity(fleet.authority, entry.hostId, new Date());
    await expect(apart.joinEdges(identity, [])).rejects.toThrow('HOMEPORT_EDGE_FORWARD');
  } finally {
    await apart.stop();
  }
});
