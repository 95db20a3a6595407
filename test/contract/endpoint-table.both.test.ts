import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import Type, { type Static } from 'typebox';
import { Value } from 'typebox/value';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describedApi, describedPortal } from '../../src/app/description.ts';
import type { Answer, Client } from '../client.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../homeport.ts';
import { inlinedResponses } from '../inlined-responses.ts';
import { manualClock } from '../manual-clock.ts';
import { mostlyOn, onlyOn } from '../only-on.ts';
import { createPortalClient } from '../portal-client.ts';
import { isLong, rounds } from '../rounds.ts';
import {
  bestStatus,
  ENDPOINTS,
  type EndpointRow,
  HIDDEN,
  idsOf,
  MALFORMED,
  MESSAGES,
  nameOf,
  statusesOfHeaders,
} from './endpoint-table.ts';
import { WITH_WORDPRESS } from './logins.ts';
import {
  absentResources,
  bodyFor,
  createResources,
  pathTo,
  pathWith,
  type ResourceSet,
} from './resource-set.ts';

const Described = Type.Object({
  openapi: Type.String(),
  info: Type.Object({ version: Type.String() }),
  servers: Type.Array(Type.Object({ url: Type.String() })),
  components: Type.Object({ schemas: Type.Record(Type.String(), Type.Unknown()) }),
  paths: Type.Record(
    Type.String(),
    Type.Record(
      Type.String(),
      Type.Object({
        operationId: Type.String(),
        description: Type.Optional(Type.String()),
        security: Type.Optional(Type.Array(Type.Unknown())),
        parameters: Type.Optional(
          Type.Array(
            Type.Object({
              in: Type.String(),
              name: Type.String(),
              required: Type.Boolean(),
              description: Type.Optional(Type.String()),
              example: Type.Optional(Type.Unknown()),
              schema: Type.Object({ type: Type.String(), format: Type.Optional(Type.String()) }),
            }),
          ),
        ),
        requestBody: Type.Optional(
          Type.Object({
            required: Type.Optional(Type.Boolean()),
            content: Type.Record(Type.String(), Type.Unknown()),
          }),
        ),
        responses: Type.Record(
          Type.String(),
          Type.Object({ content: Type.Optional(Type.Record(Type.String(), Type.Unknown())) }),
        ),
      }),
    ),
  ),
});

const Exemplified = Type.Object({ examples: Type.Array(Type.Unknown()) });

const rows = ENDPOINTS.map((row) => [nameOf(row), row] as const);
const guarded = rows.filter(([, row]) => !row.isPublic);
const withIds = rows.flatMap(([name, row]) => idsOf(row).map((id) => [name, id, row] as const));

/** Whether a path is tried with all wrong values. Those are treated before a route is, so one path has them all. In the long tests, each has. */
const isWhole = (path: string) => isLong || path === '/sites/{site_id}';

/** Every eighth of what is treated before a route is. All in the long tests. */
const sample = <Row>(all: readonly Row[]): readonly Row[] =>
  rounds(
    all.filter((_, index) => index % 8 === 0),
    all,
  );

const clock = manualClock(new Date());
let homeport: TestHomeport;
let owner: Person;
let resources: ResourceSet;

beforeAll(async () => {
  homeport = await startTestHomeport({ ...WITH_WORDPRESS, roles: { api: true, hosting: false }, clock });
  const account = await homeport.ownedAccount();
  owner = account.owner;
  resources = await createResources(homeport, owner, account.accountId);
});
afterAll(() => homeport.remove());

/** A body without the times at which credentials were used, because those are written some seconds later. */
const withoutUses = (body: unknown): unknown =>
  JSON.parse(JSON.stringify(body, (key, value: unknown) => (key === 'last_used_at' ? null : value)));

function send(client: Client, row: EndpointRow, path: string, headers: Record<string, string> = {}) {
  const json = bodyFor(row, resources);
  return client.call(row.method, path, { headers, ...(json === undefined ? {} : { json }) });
}

onlyOn('sqlite', describe)('the description', () => {
  let description: Static<typeof Described> | undefined;
  async function described() {
    description ??= Value.Parse(Described, inlinedResponses((await homeport.anonymous.get('/swagger')).body));
    return description;
  }

  it('declares exactly the rows of the endpoint table, each with its statuses', async () => {
    const { paths } = await described();
    const declared = Object.entries(paths).flatMap(([path, operations]) =>
      Object.entries(operations).map(
        ([method, { responses }]) =>
          `${method.toUpperCase()} ${path}: ${Object.keys(responses).sort().join(', ')}`,
      ),
    );
    const specified = ENDPOINTS.map((row) => {
      const statuses = new Set([row.success, ...row.others, ...statusesOfHeaders(row)].map(String));
      return `${row.method} ${row.path}: ${[...statuses].sort().join(', ')}`;
    });
    expect(declared.sort()).toEqual(specified.sort());
  });

  it('is the same without a server, for the types, the command line and the clients', async () => {
    const server = (url: string) => [{ url }];
    const { servers, ...served } = Object((await homeport.anonymous.get('/swagger')).body);
    expect({ ...served, servers: server('https://localhost:8443/v1') }).toEqual(describedApi());
    expect(servers).toEqual(server(`${homeport.origin}/v1`));
    const portal = Object((await createPortalClient(homeport).get('/description')).body);
    expect({ ...portal, servers: server('https://localhost:8443') }).toEqual(describedPortal());
  });

  it('is valid OpenAPI 3.1', async () => {
    const served = (await homeport.anonymous.get('/swagger')).body;
    const validator = new Validator();
    const outcome = await validator.validate(Value.Parse(Type.Record(Type.String(), Type.Unknown()), served));
    expect(outcome.errors ?? []).toEqual([]);
    expect(outcome.valid).toBe(true);
    expect(validator.version).toBe('3.1');
  });

  it('carries the version of the specification, and names that say something', async () => {
    const description = await described();
    expect(description.info.version).toBe('1.17.0');
    expect(description.openapi).toMatch(/^3\.1\./);
    expect(description.servers).toEqual([{ url: `${homeport.origin}/v1` }]);
    expect(Object.keys(description.components.schemas)).toContain('Error');
    expect(JSON.stringify(description)).not.toMatch(/def-\d/);
    const names = Object.values(description.paths).flatMap((operations) =>
      Object.values(operations).map((operation) => operation.operationId),
    );
    expect(new Set(names).size).toBe(ENDPOINTS.length);
  });

  it('names operations as version 1.17 does', async () => {
    const { paths } = await described();
    expect({
      limits: paths['/accounts/{account_id}/limits']?.get?.operationId,
      usage: paths['/accounts/{account_id}/usage']?.get?.operationId,
      installUsage: paths['/installs/{install_id}/usage']?.get?.operationId,
      refresh: paths['/installs/{install_id}/usage/refresh_disk_usage']?.post?.operationId,
      verification: paths['/installs/{install_id}/domains/{domain_id}/verification']?.post?.operationId,
    }).toEqual({
      limits: 'getAccountsLimits',
      usage: 'getAccountUsageMetrics',
      installUsage: 'getInstallUsageMetrics',
      refresh: 'refreshEnvironmentDiskUsage',
      verification: 'verifyDomainTxtRecord',
    });
  });

  it('has an example of each component that fits its schema', async () => {
    const { components } = await described();
    const ajv = new Ajv2020({ strict: false, allErrors: true });
    addFormats.default(ajv);
    ajv.addSchema({ $id: 'description', components });
    for (const name of Object.keys(components.schemas)) {
      const schema = Value.Parse(Exemplified, components.schemas[name]);
      expect(schema.examples.length, name).toBeGreaterThan(0);
      for (const example of schema.examples) {
        const fits = ajv.validate(`description#/components/schemas/${name}`, example);
        expect(fits, `${name}: ${ajv.errorsText()}`).toBe(true);
      }
    }
  });

  it('describes each operation and parameter, with examples and without unnamed objects', async () => {
    const { paths } = await described();
    for (const { method, path, success } of ENDPOINTS) {
      const operation = paths[path]?.[method.toLowerCase()];
      const place = `${method} ${path}`;
      expect(operation?.description?.length, place).toBeGreaterThan(20);
      for (const { name, description, example } of operation?.parameters ?? []) {
        expect(description, `${place} ${name}`).toBeTruthy();
        // Tools send examples: a second request with one key is refused, and so is a change of another version.
        const hasNone = name === 'Idempotency-Key' || name === 'If-Match';
        expect(example !== undefined, `${place} ${name}`).toBe(!hasNone);
      }
      const bodies = [operation?.requestBody?.content, operation?.responses[success]?.content];
      for (const body of bodies.filter((content) => content !== undefined)) {
        expect(body['application/json'], place).toEqual({
          schema: { $ref: expect.stringMatching(/^#\/components\/schemas\/\w+$/) },
          example: expect.anything(),
        });
      }
    }
  });

  it('refers to every object by its name', async () => {
    const { components } = await described();
    for (const [name, schema] of Object.entries(components.schemas)) {
      const nested = Object.values(Object(schema)).map((member) => JSON.stringify(member) ?? '');
      for (const text of nested) expect(text, name).not.toContain('"properties":{');
    }
  });

  it('names no component like the constructor of another in generated Go: NewSite beside Site', async () => {
    const names = Object.keys((await described()).components.schemas);
    expect(names.filter((name) => names.some((other) => name === `New${other}`))).toEqual([]);
  });

  it('answers every error with the component Error', async () => {
    const { paths } = await described();
    for (const { method, path, others } of ENDPOINTS) {
      for (const status of others) {
        const { content } = paths[path]?.[method.toLowerCase()]?.responses[String(status)] ?? {};
        expect(content?.['application/json'], `${method} ${path} ${status}`).toEqual({
          schema: { $ref: '#/components/schemas/Error' },
          example: { message: expect.any(String), ...(status === 400 ? { errors: expect.any(Array) } : {}) },
        });
      }
    }
  });

  it.each(rows)('%s is described with its parameters, its body and its authentication', async (_, row) => {
    const { paths } = await described();
    const operation = paths[row.path]?.[row.method.toLowerCase()];
    if (!operation) throw new Error('not described');
    const parameters = operation.parameters ?? [];
    const ids = parameters.filter((one) => one.in === 'path');
    expect(ids.map((one) => one.name)).toEqual(idsOf(row));
    // Of one row "both path parameters are plain strings".
    const format = row.number === 31 ? undefined : 'uuid';
    for (const { schema } of ids) expect([schema.type, schema.format]).toEqual(['string', format]);
    const query = parameters.filter((one) => one.in === 'query').map((one) => one.name);
    // Endpoint 62 has pages of its own form.
    expect(query.includes('limit') && query.includes('offset')).toBe(row.isPaged || row.number === 62);
    expect(operation.security).toEqual(row.isPublic ? [] : undefined);
    expect(operation.requestBody?.required).toBe(row.hasBody ? true : undefined);
    const silent =
      row.success === 204 ||
      [
        22, 23, 35, 43, 46, 47, 53, 66, 67, 72, 111, 115, 121, 128, 143, 157, 160, 162, 170, 171, 206, 207,
      ].includes(row.number);
    expect(operation.responses[row.success]?.content === undefined).toBe(silent);
  });
});

// The gate is the same for all rows. auth.both.test.ts tests its queries on both databases.
onlyOn('sqlite', describe)('authentication', () => {
  const basic = (pair: string) => `Basic ${Buffer.from(pair).toString('base64')}`;

  function expectRefusal(answer: Answer, message: string) {
    expect(answer).toMatchObject({ status: 401, body: { message } });
    expect(answer.headers['www-authenticate']).toBe('Basic realm="Homeport", charset="UTF-8"');
    expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
  }

  it.each(guarded)('%s asks for authentication', async (_, row) => {
    expectRefusal(await send(homeport.anonymous, row, pathTo(row, resources)), 'Authentication required');
  });

  it.each(sample(guarded))('%s refuses a wrong pair, whether or not the thing exists', async (_, row) => {
    const wrong = { authorization: basic(`${owner.credential.username}:wrong`) };
    for (const path of [pathTo(row, resources), pathTo(row, absentResources())]) {
      expectRefusal(await send(homeport.anonymous, row, path, wrong), 'Bad Credentials');
    }
  });

  describe('with credentials that are revoked or expired', () => {
    const useless: Client[] = [];
    beforeAll(async () => {
      const { credentials } = homeport.services;
      const expiresAt = new Date(clock.now().getTime() + 60_000);
      const expired = await credentials.issue(owner.userId, { name: 'expired', expiresAt });
      const revoked = await credentials.issue(owner.userId, { name: 'revoked' });
      await credentials.revoke(revoked.username);
      clock.advance(60_000);
      useless.push(homeport.clientOf(expired), homeport.clientOf(revoked));
    });

    it.each(rounds(guarded.slice(0, 20), guarded))('%s refuses', async (_, row) => {
      for (const client of useless)
        expectRefusal(await send(client, row, pathTo(row, resources)), 'Bad Credentials');
    });
  });

  it.each([
    ['another scheme', 'Bearer abc'],
    ['no value', 'Basic'],
    ['an empty value', 'Basic '],
    ['what is not Base64', 'Basic !!!'],
    ['no colon', basic('nobody')],
    ['an empty pair', basic(':')],
    ['a username in capitals', 'upper'],
    ['a username that is no UUID', basic('admin:admin')],
    ['a NUL', basic('\0:\0')],
    ['bytes that are not UTF-8', `Basic ${Buffer.from([0xff, 0xfe, 0x3a, 0xff]).toString('base64')}`],
    ['several values', `${basic('a:b')}, ${basic('c:d')}`],
    ['8,000 characters', basic(`${'x'.repeat(3000)}:${'y'.repeat(3000)}`)],
  ])('refuses a header with %s', async (_, header) => {
    const { username, password } = owner.credential;
    const authorization = header === 'upper' ? basic(`${username.toUpperCase()}:${password}`) : header;
    const answer = await homeport.anonymous.call('GET', '/user', { headers: { authorization } });
    expectRefusal(answer, 'Bad Credentials');
  });

  it.each(['basic', 'BASIC', 'Basic '])(
    'takes the scheme %j in any case, and more than one space',
    async (scheme) => {
      const { username, password } = owner.credential;
      const authorization = basic(`${username}:${password}`).replace('Basic', scheme);
      const answer = await homeport.anonymous.call('GET', '/user', { headers: { authorization } });
      expect(answer.status).toBe(200);
    },
  );

  it('asks none of /status and /swagger, and looks at none', async () => {
    for (const path of ['/status', '/swagger']) {
      const given: Record<string, string>[] = [
        {},
        { authorization: 'Basic nonsense' },
        { authorization: basic('a:b') },
      ];
      for (const headers of given) {
        expect((await homeport.anonymous.call('GET', path, { headers })).status).toBe(200);
      }
    }
  });
});

describe('identifiers in paths', () => {
  const THINGS: Record<string, string> = { ssh_key_id: 'SSH key' };
  const thing = (id: string) => THINGS[id] ?? id.replace(/_id$/, '');

  onlyOn('sqlite', describe)('that are malformed, refused before any query', () => {
    it.each(withIds)('%s: a malformed %s has the best status of the row', async (_, id, row) => {
      const status = bestStatus(row, MALFORMED);
      const message = status === 400 ? `Invalid ${thing(id)} ID format` : MESSAGES[status];
      const malformed = [
        'nonsense',
        `{${resources.site_id}}`,
        '%00',
        '1',
        `${resources.site_id}0`,
        '%F0%9F%98%80',
        '%zz',
        '%ff',
        '..%2F',
      ];
      for (const value of isWhole(row.path) ? malformed : malformed.slice(0, 1)) {
        const answer = await send(owner.client, row, pathTo(row, { ...resources, [id]: value }));
        expect(answer, value).toMatchObject({ status, body: { message } });
      }
    });
  });

  // With queries that successful requests also send.
  mostlyOn('sqlite', describe)('that are unknown, or of another kind of thing', () => {
    it.each(withIds)('%s: an unknown %s has the best status of the row', async (_, id, row) => {
      const status = bestStatus(row, HIDDEN);
      const answer = await send(owner.client, row, pathTo(row, { ...resources, [id]: crypto.randomUUID() }));
      expect(answer).toMatchObject({ status, body: { message: MESSAGES[status] } });
    });

    it.each(sample(withIds))('%s: as %s, such a one is unknown', async (_, id, row) => {
      const status = bestStatus(row, HIDDEN);
      const other = id === 'site_id' ? resources.install_id : resources.site_id;
      const answer = await send(owner.client, row, pathTo(row, { ...resources, [id]: other }));
      expect(answer).toMatchObject({ status, body: { message: MESSAGES[status] } });
    });
  });

  it('are UUIDs in either case', async () => {
    const answer = await owner.client.get(`/sites/${resources.site_id.toUpperCase()}`);
    expect(answer).toMatchObject({ status: 200, body: { id: resources.site_id } });
  });
});

onlyOn('sqlite', describe)('paths and methods', () => {
  const methods = ['POST', 'PUT', 'DELETE', 'GET', 'PATCH', 'PROPFIND', 'TRACE', 'QUERY'];
  /** `bulk` is also an identifier, though a malformed one. */
  const leadsTo = (row: EndpointRow, path: string) =>
    new RegExp(`^${row.path.replace(/\{\w+\}/g, '[^/]+')}$`).test(path);

  it.each([...new Set(ENDPOINTS.map((row) => row.path))])(
    '%s answers 404 to every other method',
    async (path) => {
      const declared = ENDPOINTS.filter((row) => leadsTo(row, path)).map((row) => row.method);
      for (const method of isWhole(path) ? methods : methods.slice(0, 2)) {
        if (declared.includes(method)) continue;
        const answer = await owner.client.call(method, pathWith(path, resources));
        expect(answer, method).toMatchObject({ status: 404, body: { message: 'Resource not found' } });
      }
    },
  );

  it('answers 404 to an unknown path, with any credentials and body', async () => {
    for (const client of [owner.client, homeport.anonymous]) {
      for (const path of [
        '',
        '/',
        '/nothing',
        '/installs/a/b/c/d',
        '/status/x',
        '/%',
        '/%zz',
        '/%ff',
        '/..;/x',
      ]) {
        for (const method of ['GET', 'POST']) {
          const broken = method === 'POST' ? { raw: '{', headers: { 'content-type': 'nonsense' } } : {};
          const answer = await client.call(method, path, broken);
          expect(answer, `${method} ${path}`).toMatchObject({
            status: 404,
            body: { message: 'Resource not found' },
          });
          expect(answer.headers['x-request-id'], path).toMatch(/^[0-9a-f-]{36}$/);
          expect(answer.headers['access-control-allow-origin'], path).toBe('*');
          expect(answer.headers['ratelimit-limit'], path).toBeDefined();
        }
      }
    }
  });

  it.each(sample(rows.filter(([, row]) => row.method === 'GET')))(
    '%s tolerates // and a trailing slash',
    async (_, row) => {
      const client = row.isPublic ? homeport.anonymous : owner.client;
      const path = pathTo(row, resources);
      const proper = await client.get(path);
      expect(proper.status).toBe(row.success);
      const variants = [
        `${path.replaceAll('/', '///')}//`,
        `${path}/`,
        `/${path}`,
        path.replaceAll('/', '//'),
      ];
      for (const variant of isWhole(row.path) ? variants : variants.slice(0, 1)) {
        const answer = await client.get(variant);
        expect(answer.status, variant).toBe(row.success);
        if (row.number !== 1) expect(withoutUses(answer.body), variant).toEqual(withoutUses(proper.body));
      }
    },
  );

  it('answers HEAD as GET, without the body', async () => {
    const got = await owner.client.get('/installs');
    const answer = await owner.client.call('HEAD', '/installs');
    expect(answer).toMatchObject({ status: 200, body: undefined });
    expect(answer.headers['content-length']).toBe(got.headers['content-length']);
    expect((await homeport.anonymous.call('HEAD', '/installs')).status).toBe(401);
  });
});

onlyOn('sqlite', describe)('headers', () => {
  it.each(sample(rows))('%s names the request and lets browsers read the answer', async (_, row) => {
    const ids = new Set<unknown>();
    for (const client of [owner.client, homeport.anonymous]) {
      const { headers } = await send(client, row, pathTo(row, absentResources()), { 'x-request-id': 'mine' });
      expect(headers['x-request-id']).toMatch(
        /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
      );
      ids.add(headers['x-request-id']);
      expect(headers['access-control-allow-origin']).toBe('*');
      expect(headers['access-control-allow-credentials']).toBeUndefined();
      expect(headers['access-control-expose-headers']).toBe('*');
      expect(headers['cache-control']).toBe('no-store');
      expect(headers['x-content-type-options']).toBe('nosniff');
      for (const name of ['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset']) {
        expect(headers[name]).toMatch(/^\d+$/);
      }
    }
    expect(ids.size).toBe(2);
  });

  it.each(sample([...new Set(rows.map(([, row]) => row.path))]))(
    '%s answers a preflight request',
    async (path) => {
      const answer = await homeport.anonymous.call('OPTIONS', path, {
        headers: {
          origin: 'https://elsewhere.example',
          'access-control-request-method': 'PATCH',
          'access-control-request-headers': 'authorization, content-type',
        },
      });
      expect(answer).toMatchObject({ status: 204, body: undefined });
      expect(answer.headers['access-control-allow-origin']).toBe('*');
      expect(answer.headers['access-control-allow-methods']).toBe('GET, POST, PATCH, DELETE');
      expect(answer.headers['access-control-allow-headers']).toBe(
        'Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match',
      );
      expect(answer.headers['access-control-max-age']).toBe('600');
    },
  );
});

// On SQLite, examples.test.ts and record-of-changes.both.test.ts send each successful request.
mostlyOn('postgres', describe)('success', () => {
  interface Asked {
    caller: Person;
    made: ResourceSet;
  }
  /** The account and resources of earlier changes. */
  let present: Asked | undefined;

  async function newAccount(): Promise<Asked> {
    const { owner: caller, accountId } = await homeport.ownedAccount();
    return { caller, made: await createResources(homeport, caller, accountId) };
  }

  function ask(row: EndpointRow, { caller, made }: Asked): Promise<Answer> {
    const json = bodyFor(row, made);
    return caller.client.call(row.method, pathTo(row, made), json === undefined ? {} : { json });
  }

  /** An earlier request may have left the resources in a state that refuses this one. Then it gets new ones. */
  async function askChange(row: EndpointRow): Promise<Answer> {
    const first = present && (await ask(row, present));
    expect(first?.status ?? 0).toBeLessThan(500);
    if (first?.status === row.success) return first;
    present = await newAccount();
    return ask(row, present);
  }

  it.each(rows)('%s succeeds with the status of its row', async (_, row) => {
    // Reading changes nothing.
    const isRead = row.method === 'GET';
    const answer = await (isRead ? ask(row, { caller: owner, made: resources }) : askChange(row));
    expect(answer.status).toBe(row.success);
    const silent =
      row.success === 204 ||
      [
        22, 23, 35, 43, 46, 47, 53, 66, 67, 72, 111, 115, 121, 128, 143, 157, 160, 162, 170, 171, 206, 207,
      ].includes(row.number);
    expect(answer.body === undefined).toBe(silent);
    if (!silent) expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
  });
});
