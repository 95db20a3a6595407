import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { field } from '../../../../test/client.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../../../../test/homeport.ts';
import { FORBIDDEN } from '../../../../test/refusal.ts';
import { insertHost } from '../../hosts/store.ts';
import { replaceOrphans } from '../orphan-store.ts';
import { changeMove, latestMove } from './store.ts';

let homeport: TestHomeport;
let operator: Person;
let accountId: string;
let install: { id: string; name: string };
const hosts: Record<string, string> = {};

beforeAll(async () => {
  // Nothing runs its jobs.
  homeport = await startTestHomeport({ roles: { api: true, hosting: false } });
  ({ accountId, owner: operator } = await homeport.ownedAccount());
  await homeport.services.profile.changeByOperator(operator.userId, { is_operator: true });
  for (const name of ['web1', 'web2', 'web3']) {
    const id = crypto.randomUUID();
    hosts[name] = id;
    const host = { id, name, address: 'https://127.0.0.1:9', public_name: null, edge_addresses: [] };
    await homeport.platform.database.write(({ queries }) =>
      insertHost(queries, { ...host, created_at: '2026-01-01T00:00:00.000Z' }),
    );
    await homeport.services.hosts.note({
      ...{ id, capacity: 10, phpVersions: [], wordpressVersions: [], reservedNames: [] },
      ...{ ports: { http: 80, https: 443, ssh: 22 }, movesWebsites: true },
    });
  }
});
afterAll(() => homeport?.remove());

beforeEach(async () => {
  install = await homeport.install(operator, accountId);
  await homeport.platform.database.write(({ queries }) =>
    queries
      .updateTable('installs')
      .set({ status: 'active', host_id: hosts.web1 ?? null, php_version: null, wordpress_version: null })
      .where('id', '=', install.id)
      .execute(),
  );
});

const path = (of = '') => `/installs/${install.id}/move${of}`;
const begin = (host: string, { client } = operator, key?: string) =>
  client.call('POST', path(), {
    json: { host },
    ...(key === undefined ? {} : { headers: { 'idempotency-key': key } }),
  });
const seen = async () => (await operator.client.get(path())).body;
const operationOf = (answer: { headers: Record<string, unknown> }) =>
  String(answer.headers.location).replace('/v1', '');

it('is begun by an operator, by the name or the id of the host, and shows what it does', async () => {
  expect(await seen()).toEqual({
    host: 'web1',
    hosts: [
      { id: hosts.web2, name: 'web2', refusal: null },
      { id: hosts.web3, name: 'web3', refusal: null },
    ],
    latest: null,
    return_loss: null,
  });
  expect(await begin('web9')).toMatchObject({
    status: 400,
    body: { errors: [{ field: 'host', code: 'unknown_host' }] },
  });
  const begun = await begin(hosts.web2 ?? '');
  expect(begun).toMatchObject({ status: 202, body: undefined });
  expect((await operator.client.get(operationOf(begun))).body).toMatchObject({
    kind: 'install.move',
    status: 'queued',
    install: { name: install.name },
  });
  expect(await seen()).toMatchObject({
    hosts: [{ refusal: expect.stringContaining('is being moved already') }, {}],
    latest: { from: 'web1', to: 'web2', step: 'copying', reason: null, has_copy: false },
  });
});

it('is one of two that are requested at once, and one for each idempotency key', async () => {
  const [one, other] = await Promise.all([begin('web2'), begin('web3')]);
  const statuses = [one, other].map(({ status }) => status).sort();
  expect(statuses).toEqual([202, 409]);
  const refused = one.status === 409 ? one : other;
  expect(field(refused.body, 'message')).toMatch(/is being moved already/);
  install = await homeport.install(operator, accountId);
  await homeport.platform.database.write(({ queries }) =>
    queries
      .updateTable('installs')
      .set({ status: 'active', host_id: hosts.web1 ?? null, php_version: null, wordpress_version: null })
      .where('id', '=', install.id)
      .execute(),
  );
  const [first, again] = [await begin('web2', operator, 'one'), await begin('web2', operator, 'one')];
  expect([first.status, again.status]).toEqual([202, 202]);
  expect(operationOf(again)).toBe(operationOf(first));
});

it('is refused where the host has another website of this name', async () => {
  const namesake = {
    name: install.name,
    hostnames: [],
    is_served: false,
    found_at: '2026-01-01T00:00:00.000Z',
  };
  await homeport.platform.database.write(({ queries }) =>
    replaceOrphans(queries, hosts.web2 ?? '', [{ ...namesake, id: crypto.randomUUID() }]),
  );
  const refusal = expect.stringMatching(/^The host "web2" has another website/);
  expect(await begin('web2')).toMatchObject({ status: 409, body: { message: refusal } });
  expect(await seen()).toMatchObject({ hosts: [{ refusal }, { refusal: null }] });
  // What an earlier move of the same install left is no other website.
  await homeport.platform.database.write(({ queries }) =>
    replaceOrphans(queries, hosts.web2 ?? '', [{ ...namesake, id: install.id }]),
  );
  expect((await begin('web2')).status).toBe(202);
});

it('is for operators only', async () => {
  const owner = await homeport.person(accountId, 'owner');
  expect(await owner.client.get(path())).toMatchObject(FORBIDDEN);
  expect(await begin('web2', owner)).toMatchObject(FORBIDDEN);
  expect(await owner.client.call('POST', path('/return'))).toMatchObject(FORBIDDEN);
  const begun = await begin('web2');
  expect(await owner.client.delete(operationOf(begun))).toMatchObject(FORBIDDEN);
  // An operator sees only the installs of their accounts.
  const { owner: elsewhere } = await homeport.ownedAccount();
  await homeport.services.profile.changeByOperator(elsewhere.userId, { is_operator: true });
  expect((await elsewhere.client.get(path())).status).toBe(404);
  // A limited credential of an operator is none of an operator.
  const limited = homeport.clientOf(
    await homeport.services.credentials.issue(operator.userId, {
      name: 'one account',
      limits: { readOnly: false, accountId, installs: null },
    }),
  );
  expect((await limited.get(path())).status).toBe(403);
  await homeport.services.profile.changeByOperator(elsewhere.userId, { is_operator: false });
});

it('is cancelled until the new host takes over, as an operation', async () => {
  const begun = await begin('web2');
  expect((await operator.client.delete(operationOf(begun))).status).toBe(204);
  expect(await seen()).toMatchObject({ latest: { step: 'cancelled' } });
  const second = await begin('web3');
  const { reader } = homeport.platform.database;
  const { id = '' } = (await latestMove(reader, install.id)) ?? {};
  await homeport.platform.database.write(({ queries }) =>
    changeMove(queries, id, ['copying'], { step: 'handing_over' }),
  );
  const late = await operator.client.delete(operationOf(second));
  expect(late).toMatchObject({ status: 409 });
  expect(field(late.body, 'message')).toMatch(/takes over already/);
  expect((await operator.client.get(operationOf(second))).body).toMatchObject({ status: 'queued' });
});

it('returns from a host that is lost, and not from one that answers', async () => {
  expect(await operator.client.call('POST', path('/return'))).toMatchObject({ status: 409 });
  await begin('web2');
  const { database } = homeport.platform;
  const { id = '' } = (await latestMove(database.reader, install.id)) ?? {};
  await database.write(({ queries }) =>
    changeMove(queries, id, ['copying'], { step: 'switched', switched_at: '2026-01-02T03:04:05.000Z' }),
  );
  expect(await operator.client.call('POST', path('/return'))).toMatchObject({ status: 409 });
  const silent = (reason: string | null) =>
    database.write(({ queries }) =>
      queries
        .updateTable('hosts')
        .set({ reason })
        .where('id', '=', hosts.web2 ?? '')
        .execute(),
    );
  await silent('It is silent.');
  expect(field(await seen(), 'return_loss')).toMatch(/What visitors changed on web2 since then is lost/);
  const returned = await operator.client.call('POST', path('/return'));
  expect(returned.status).toBe(202);
  expect(await seen()).toMatchObject({ host: 'web1', latest: { step: 'returning' }, return_loss: null });
  await silent(null);
});
