import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Person, startTestHomeport, type TestHomeport } from '../../../test/homeport.ts';

import { freePort } from '../../../test/servers/free-port.ts';
import { PermanentHostError } from '../../hosting/contract/errors.ts';
import type { HostDescription } from '../../hosting/contract/host.ts';
import { certificateFor, eventually } from '../../hosting/policy/edge.fixture.ts';
import { type ServedMachine, serveMachine } from '../../hosting/remote/embedded-machine.fixture.ts';
import { parseIdentity } from '../../hosting/remote/identity.ts';
import { timestamp } from '../../lib/clock.ts';
import { insertMove } from '../provisioning/moves/store.ts';
import { platformIdOf } from './edge-routes-store.ts';
import { environment, startFleet } from './fleet.fixture.ts';
import type { Fleet } from './fleet.ts';

const forwarding = (port: number) => ({ host: '127.0.0.1', port, identity: null });

let first: ServedMachine;
let second: ServedMachine;
let homeport: TestHomeport;
let accountId: string;
let owner: Person;
let fleet: Fleet;
let watching: { stop(): Promise<void> };

/** Adds a machine to the platform. */
async function add(
  name: string,
  description: Partial<HostDescription>,
  hostname = '127.0.0.1',
): Promise<ServedMachine> {
  const machine = await serveMachine(description);
  const port = await freePort();
  const { identity } = await homeport.services.hosts.add(name, `https://${hostname}:${port}`);
  machine.description.id = parseIdentity(identity).hostId;
  machine.description.platform = (await platformIdOf(homeport.platform.database.reader)) ?? null;
  await machine.listenTls(parseIdentity(identity), port);
  return machine;
}

beforeAll(async () => {
  first = await serveMachine({ forwarding: forwarding(1001) });
  homeport = await startTestHomeport({ environment: environment(first.runFolder) });
  ({ accountId, owner } = await homeport.ownedAccount());
  const { reader } = homeport.platform.database;
  await eventually(async () => (await platformIdOf(reader)) !== undefined);
  first.description.platform = (await platformIdOf(reader)) ?? null;
  second = await add('web2', { forwarding: forwarding(1002) });
  fleet = startFleet(homeport, 20);
  await fleet.start();
  watching = fleet.edges.start();
});
beforeEach(() => accept(first));
afterAll(async () => {
  await watching?.stop();
  await fleet?.stop();
  await homeport?.remove();
  await first?.close();
  await second?.close();
});

/** Places new installs on this machine. */
async function accept(machine: ServedMachine): Promise<void> {
  const { hosts } = homeport.services;
  for (const { name, id } of await hosts.list())
    await hosts.setAccepting(name, id === machine.description.id);
}

const routed = ({ edges }: ServedMachine, id: string) => {
  const route = edges.routes.get(id);
  return route && { hostId: route.hostId, names: route.names.map(({ name }) => name) };
};

test('each edge gets one identity and learns of the other, and what the other serves', async () => {
  await eventually(async () => first.edges.others.length === 1 && second.edges.others.length === 1);
  expect(first.edges.others).toEqual([{ hostId: second.description.id, host: '127.0.0.1', port: 1002 }]);
  expect(second.edges.others).toEqual([{ hostId: first.description.id, host: '127.0.0.1', port: 1001 }]);
  const install = await homeport.install(owner, accountId);
  await eventually(async () => second.edges.routes.has(install.id));
  expect(routed(second, install.id)).toEqual({
    hostId: first.description.id,
    names: [`${install.name}.localhost`],
  });
  expect(first.edges.routes.has(install.id)).toBe(false);
  expect([first.edges.identities.length, second.edges.identities.length]).toEqual([1, 1]);
});

test('the SSH host key of the first host becomes that of all, also of one that comes later', async () => {
  const keyOf = (half: string) =>
    `-----BEGIN OPENSSH PRIVATE KEY-----\n${half}\n-----END OPENSSH PRIVATE KEY-----\n`;
  const third = await add('web3', { forwarding: forwarding(1005) });
  const machines = [first, second, third];
  try {
    // The others ask before the first host does: they wait for it.
    for (const [at, machine] of [...machines.entries()].reverse()) {
      machine.edges.sshHostKey = keyOf(`AAAA${at}`);
      machine.description.sshHostKeys = [`ssh-ed25519 AAAA${at}`];
      machine.description.sharesSshHostKey = true;
      const other = startFleet(homeport, 20);
      await other.start();
      const looking = other.edges.start();
      await eventually(() => other.met().length === machines.length);
      await other.edges.settled();
      await looking.stop();
      await other.stop();
    }
    await eventually(() => third.edges.sshHostKey === keyOf('AAAA0'));
    expect(third.description.sshHostKeys).toEqual(['ssh-ed25519 AAAA2', 'ssh-ed25519 AAAA0']);
    expect(machines.map(({ edges }) => edges.sshHostKey)).toEqual(machines.map(() => keyOf('AAAA0')));
    const { database } = homeport.platform;
    const stored = await database.reader.selectFrom('host_authority').selectAll().executeTakeFirstOrThrow();
    expect(JSON.stringify(stored)).not.toContain('OPENSSH');
  } finally {
    await homeport.services.hosts.remove('web3');
    await eventually(async () => first.edges.others.length === 1);
    await third.close();
  }
});

test('a new name, and the end of an install, reach the other host', async () => {
  const install = await homeport.install(owner, accountId);
  await owner.client.post(`/installs/${install.id}/domains`, { name: 'new-name.example' });
  await homeport.idle();
  await eventually(async () => routed(second, install.id)?.names.includes('new-name.example') === true);
  await owner.client.delete(`/installs/${install.id}`);
  await homeport.idle();
  await eventually(async () => !second.edges.routes.has(install.id));
});

test('a renewed certificate reaches the other host', async () => {
  const { database, sealer } = homeport.platform;
  const install = await homeport.install(owner, accountId);
  const name = `${install.name}.localhost`;
  const domain = await database.reader
    .selectFrom('domains')
    .select('id')
    .where('name', '=', name)
    .executeTakeFirstOrThrow();
  const shown = () => second.edges.routes.get(install.id)?.names[0]?.certificate ?? null;
  for (const turn of [1, 2]) {
    const { chain, key, notAfter } = await certificateFor(name);
    await database.write(async ({ queries }) => {
      await queries.deleteFrom('certificates').where('domain_id', '=', domain.id).execute();
      await queries
        .insertInto('certificates')
        .values({
          ...{ domain_id: domain.id, source: 'SELF_SIGNED', chain, sealed_key: sealer.seal(key) },
          ...{ not_before: notAfter, not_after: notAfter, created_at: notAfter },
          ...{ directory_url: null, order_url: null, renewal_id: null, renew_at: null },
          ...{ upload_id: null, warned_days: null },
        })
        .execute();
    });
    fleet.edges.announce(install.id);
    await eventually(() => shown()?.chain === chain);
    expect([turn, shown()]).toEqual([turn, { chain, key }]);
  }
});

test('a host that was away, or lost routes, gets the difference when it is met again', async () => {
  const kept = await homeport.install(owner, accountId);
  await eventually(async () => second.edges.routes.has(kept.id));
  await second.down();
  await eventually(async () => !fleet.met().includes(second.description.id));
  const missed = await homeport.install(owner, accountId);
  second.edges.routes.delete(kept.id);
  second.edges.routes.set(missed.id, {
    installId: missed.id,
    hostId: kept.id,
    names: [],
    digest: '0'.repeat(64),
  });
  await second.up();
  await eventually(async () => routed(second, missed.id)?.hostId === first.description.id);
  await eventually(async () => second.edges.routes.has(kept.id));
});

test('a route that cannot be sent costs the others nothing', async () => {
  const { database } = homeport.platform;
  const [unreadable, refused, good] = [
    await homeport.install(owner, accountId),
    await homeport.install(owner, accountId),
    await homeport.install(owner, accountId),
  ];
  const [name, domain] = [`${unreadable.name}.localhost`, database.reader.selectFrom('domains')];
  const { id } = await domain.select('id').where('name', '=', name).executeTakeFirstOrThrow();
  const { chain, notAfter } = await certificateFor(name);
  await database.write(async ({ queries }) => {
    await queries.deleteFrom('certificates').where('domain_id', '=', id).execute();
    await queries
      .insertInto('certificates')
      .values({
        ...{ domain_id: id, source: 'SELF_SIGNED', chain, sealed_key: 'damaged' },
        ...{ not_before: notAfter, not_after: notAfter, created_at: notAfter },
        ...{ directory_url: null, order_url: null, renewal_id: null, renew_at: null },
        ...{ upload_id: null, warned_days: null },
      })
      .execute();
  });
  await fleet.edges.settled();
  const { setRoutes } = second.machine;
  second.machine.setRoutes = async (routes) => {
    if (routes.some(({ installId }) => installId === refused.id)) throw new Error('refused');
    await setRoutes(routes);
  };
  second.edges.routes.clear();
  const other = startFleet(homeport, 20);
  await other.start();
  const looking = other.edges.start();
  try {
    await eventually(() => second.edges.routes.has(good.id));
    await other.edges.settled();
    expect(second.edges.routes.has(unreadable.id)).toBe(false);
    expect(second.edges.routes.has(refused.id)).toBe(false);
  } finally {
    second.machine.setRoutes = setRoutes;
    await looking.stop();
    await other.stop();
    await database.write(({ queries }) =>
      queries.deleteFrom('certificates').where('domain_id', '=', id).execute(),
    );
  }
});

test('an edge that lost its identity and listens on another port gets a new one, and is announced', async () => {
  second.description.forwarding = { ...second.description.forwarding, ...forwarding(1003), identity: null };
  await eventually(async () => first.edges.others[0]?.port === 1003);
});

test('a host whose name has no address holds up no route to another', async () => {
  const named = await add('named', { forwarding: { ...forwarding(1004), host: null } }, 'localhost');
  const unresolved = startFleet(homeport, undefined, { lookUp: () => Promise.reject(new Error('no DNS')) });
  try {
    await eventually(async () => first.edges.others.length === 2);
    await accept(second);
    const install = await homeport.install(owner, accountId);
    await eventually(async () => first.edges.routes.has(install.id));
    await fleet.edges.settled();
    first.edges.routes.delete(install.id);
    unresolved.edges.announce(install.id);
    await eventually(async () => first.edges.routes.has(install.id));
  } finally {
    await unresolved.stop();
    await homeport.services.hosts.remove('named');
    await eventually(async () => first.edges.others.length === 1);
    await named.close();
  }
});

test('a host of an earlier version neither hears of routes nor gets any', async () => {
  const old = await add('old', {});
  try {
    await eventually(async () => fleet.met().includes(old.description.id));
    await accept(old);
    const install = await homeport.install(owner, accountId);
    await fleet.edges.settled();
    expect(first.edges.routes.has(install.id)).toBe(false);
    expect(first.edges.others.map(({ hostId }) => hostId)).toEqual([second.description.id]);
    const way = { at: first.description.id, to: old.description.id };
    await expect(fleet.edges.forward(install.id, way)).rejects.toThrow(PermanentHostError);
  } finally {
    await old.close();
  }
});

test('forwards the names of an install on request', async () => {
  const install = await homeport.install(owner, accountId);
  const { id } = second.description;
  await fleet.edges.forward(install.id, { at: first.description.id, to: id });
  expect(routed(first, install.id)).toEqual({ hostId: id, names: [`${install.name}.localhost`] });
});

test('no comparison takes back the route of a website that is being handed over', async () => {
  await accept(first);
  const install = await homeport.install(owner, accountId);
  const [from, to] = [first.description.id, second.description.id];
  const { database, clock } = homeport.platform;
  await fleet.edges.settled();
  await database.write(({ queries }) =>
    insertMove(queries, {
      ...{ id: crypto.randomUUID(), install_id: install.id, install_name: install.name },
      ...{ from_host: from, to_host: to, step: 'handing_over', job_id: crypto.randomUUID() },
      requested_at: timestamp(clock),
    }),
  );
  await fleet.edges.forward(install.id, { at: from, to });
  const forwarded = { hostId: to, names: [`${install.name}.localhost`] };
  fleet.edges.announce(install.id);
  await fleet.edges.settled();
  expect(routed(first, install.id)).toEqual(forwarded);
  expect(routed(second, install.id)?.hostId).toBe(from);
  // Another process compares everything. It removes what no install has.
  const unknown = crypto.randomUUID();
  first.edges.routes.set(unknown, { installId: unknown, hostId: to, names: [], digest: '0'.repeat(64) });
  const other = startFleet(homeport, 20);
  await other.start();
  const looking = other.edges.start();
  try {
    await eventually(() => !first.edges.routes.has(unknown));
    await other.edges.settled();
    expect(routed(first, install.id)).toEqual(forwarded);
  } finally {
    await looking.stop();
    await other.stop();
  }
});

test('the only host that is left forgets the others', async () => {
  const { database } = homeport.platform;
  expect(first.edges.others).toHaveLength(1);
  await database.write(({ queries }) =>
    queries.updateTable('installs').set({ host_id: first.description.id }).execute(),
  );
  await database.write(({ queries }) =>
    queries.deleteFrom('hosts').where('id', '!=', first.description.id).execute(),
  );
  await eventually(() => first.edges.others.length === 0 && first.edges.routes.size === 0);
});

test('the edge of a host that has become part of the platform takes part at once', async () => {
  const { platform } = homeport;
  const third = await add('web9', { forwarding: forwarding(1009) });
  const patient = startFleet(homeport, 3_600_000);
  third.description.platform = null;
  await patient.start();
  const edges = patient.edges.start();
  try {
    third.description.platform = (await platformIdOf(platform.database.reader)) ?? null;
    patient.edges.claimed(third.description.id);
    await eventually(async () => third.edges.others.length > 0);
  } finally {
    await edges.stop();
    await patient.stop();
    await third.close();
  }
});
