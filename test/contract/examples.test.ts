import Type, { type Static } from 'typebox';
import { Value } from 'typebox/value';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operatorFor } from '../../src/access/caller.ts';
import { exampleIdOf } from '../../src/api/path-parameters.ts';
import { text } from '../client.ts';
import { startTestHomeport, type TestHomeport } from '../homeport.ts';
import { ENDPOINTS, nameOf } from './endpoint-table.ts';
import { WITH_WORDPRESS } from './logins.ts';
import { bodyFor, createResources, pathTo, type ResourceSet } from './resource-set.ts';

const Json = Type.Optional(
  Type.Object({
    'application/json': Type.Optional(Type.Object({ example: Type.Optional(Type.Unknown()) })),
  }),
);
const Operation = Type.Object({
  parameters: Type.Optional(
    Type.Array(
      Type.Object({ in: Type.String(), name: Type.String(), example: Type.Optional(Type.Unknown()) }),
    ),
  ),
  requestBody: Type.Optional(Type.Object({ content: Json })),
  responses: Type.Record(Type.String(), Type.Object({ content: Json })),
});
const Described = Type.Object({
  paths: Type.Record(Type.String(), Type.Record(Type.String(), Operation)),
});

let homeport: TestHomeport;
let described: Static<typeof Described>;
/** For requests that change nothing. */
let untouched: Awaited<ReturnType<typeof ownedResources>>;
/** For requests that change something, until they refuse one because of what earlier ones did. */
let changed: Awaited<ReturnType<typeof ownedResources>>;
beforeAll(async () => {
  homeport = await startTestHomeport({ ...WITH_WORDPRESS, roles: { api: true, hosting: false } });
  described = Value.Parse(Described, (await homeport.anonymous.get('/swagger')).body);
  untouched = await ownedResources();
  changed = await ownedResources();
});
afterAll(() => homeport.remove());

/** A new account with one thing of every kind. */
async function ownedResources() {
  const { owner, accountId } = await homeport.ownedAccount();
  const resources = await createResources(homeport, owner, accountId);
  await homeport.services.profile.update(operatorFor(owner.userId), { phone: '+1 555 0100' });
  return { owner, resources };
}

/** The example with the identifiers of real resources. */
function withRealIds(example: unknown, resources: ResourceSet): unknown {
  let text = JSON.stringify(example);
  // The sites of transfers appear in no path.
  const {
    offered_site_id: _offered,
    free_site_id: _free,
    queued_operation_id: _queued,
    failed_operation_id: _failed,
    placed_install_id: _placed,
    ...named
  } = resources;
  for (const [name, id] of Object.entries(named)) text = text.replaceAll(exampleOf(name), id);
  return JSON.parse(text);
}

function exampleOf(name: string): string {
  const id = exampleIdOf(name);
  if (id === undefined) throw new Error(`path-parameters.ts has no example of ${name}`);
  return id;
}

/** Compares the members of two values and the types of these members. Null matches any type: the schema says where it may occur. */
function expectAlike(answer: unknown, example: unknown, path: string): void {
  if (answer === null || example === null) return;
  expect(typeof answer, path).toBe(typeof example);
  if (Array.isArray(example) && Array.isArray(answer)) {
    // Members that only some items have make the items of a list differ. One of them has to be like the example.
    const sample = answer.find((item) => membersOf(item) === membersOf(example[0])) ?? answer[0];
    if (sample !== undefined && example.length > 0) expectAlike(sample, example[0], `${path}/0`);
  } else if (typeof example === 'object' && typeof answer === 'object') {
    expect(membersOf(answer), path).toBe(membersOf(example));
    for (const name of Object.keys(example)) {
      expectAlike(Reflect.get(answer, name), Reflect.get(example, name), `${path}/${name}`);
    }
  }
}

const membersOf = (value: unknown) => Object.keys(Object(value)).sort().join(', ');

describe('the examples of the description', () => {
  it.each(ENDPOINTS.map((row) => [nameOf(row), row] as const))('%s', async (_, row) => {
    const operation = described.paths[row.path]?.[row.method.toLowerCase()];
    if (!operation) throw new Error('not described');
    for (const { name, example } of operation.parameters?.filter((one) => one.in === 'path') ?? []) {
      expect(example).toBe(exampleOf(name));
    }
    const body = operation.requestBody?.content?.['application/json']?.example;
    const ask = ({ owner, resources }: typeof changed) => {
      // The description can show neither a certificate that never expires nor its key. The limits of PHP need a host with PHP.
      const sent = [73, 113].includes(row.number)
        ? bodyFor(row, resources)
        : body && withRealIds(body, resources);
      return owner.client.call(row.method, pathTo(row, resources), body === undefined ? {} : { json: sent });
    };
    // The events of what was created become deliveries some time later.
    const isUntouched = row.method === 'GET' && row.number !== 106;
    let answer = await ask(isUntouched ? untouched : changed);
    expect(answer.status).toBeLessThan(500);
    if (answer.status !== row.success && !isUntouched) {
      changed = await ownedResources();
      answer = await ask(changed);
    }
    expect(answer).toMatchObject({ status: row.success });
    const promised = operation.responses[row.success]?.content?.['application/json'];
    expect(answer.body === undefined).toBe(promised === undefined);
    if (row.path === '/swagger') return expect(answer.body).toMatchObject(Object(promised?.example));
    if (promised) expectAlike(answer.body, promised.example, nameOf(row));
  });
});

/** The headers of an operation with their examples, as tools send them with every request. */
function headersOf(method: string, path: string): Record<string, string> {
  const { parameters = [] } = described.paths[path]?.[method.toLowerCase()] ?? {};
  const shown = parameters.filter(({ in: place, example }) => place === 'header' && example !== undefined);
  return Object.fromEntries(shown.map(({ name, example }) => [name, String(example)]));
}

it('has examples of headers that hold for every request', async () => {
  const { owner, accountId } = await homeport.ownedAccount();
  const send = async (method: string, path: string, id: string, json?: object) => {
    const headers = headersOf(method, path);
    const target = path.replace('{site_id}', id);
    return owner.client.call(method, target, { headers, ...(json === undefined ? {} : { json }) });
  };
  for (const name of ['One', 'Two']) {
    const made = await send('POST', '/sites', '', { name, account_id: accountId });
    expect(made.status).toBe(201);
    const id = text(made.body, 'id');
    expect((await send('GET', '/sites/{site_id}', id)).status).toBe(200);
    expect((await send('PATCH', '/sites/{site_id}', id, { name: `New ${name}` })).status).toBe(200);
    expect((await send('DELETE', '/sites/{site_id}', id)).status).toBe(204);
  }
});
