import type { IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { buffer } from 'node:stream/consumers';
import fc from 'fast-check';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { anyCharacter } from '../any-character.ts';
import { decoded } from '../client.ts';
import { type Conformance, conformanceTo } from '../conformance.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../homeport.ts';
import { exchange, statusesIn } from '../raw-connection.ts';
import { ENDPOINTS, type EndpointRow, idsOf, nameOf } from './endpoint-table.ts';
import {
  changed,
  changesTo,
  hostileHeaders,
  hostileJson,
  hostileQuery,
  hostileSegment,
  hostileText,
} from './hostile.ts';
import { WITH_WORDPRESS } from './logins.ts';
import { absentResources, bodyFor, createResources, pathWith, type ResourceSet } from './resource-set.ts';

/** The same requests in every run; `FUZZ_SEED` and `FUZZ_RUNS` (a factor) look for others. */
const SEED = Number(process.env.FUZZ_SEED ?? 20260101);
const FACTOR = Number(process.env.FUZZ_RUNS ?? 1);
/** Of the runs that each property names: enough for each commit. */
const SHARE = 1 / 60;
/** No request needs more processor time, however large. */
const SLOW_MS = 10_000;

/** Each property has a different seed. */
const settings = (numRuns: number, property: number) => ({
  seed: SEED + property,
  numRuns: Math.ceil(numRuns * FACTOR * SHARE),
  endOnFailure: process.env.CI !== undefined,
});

let homeport: TestHomeport;
let owner: Person;
let accountId: string;
let resources: ResourceSet;
let conforms: Conformance;
let agent: Agent;
let authorization: string;
/** Unexpected failures in the log. */
const failures: string[] = [];

beforeAll(async () => {
  const log = pino({ level: 'error' }, { write: (line) => failures.push(line) });
  homeport = await startTestHomeport({ ...WITH_WORDPRESS, roles: { api: true, hosting: false }, log });
  ({ owner, accountId } = await homeport.ownedAccount());
  // The last owner cannot be removed; all others can.
  await homeport.person(accountId, 'owner');
  conforms = conformanceTo((await homeport.anonymous.get('/swagger')).body);
  const { username, password } = owner.credential;
  authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  resources = await createResources(homeport, owner, accountId);
  agent = new Agent({ ca: homeport.ca, keepAlive: true });
});
afterAll(async () => {
  expect((await homeport.anonymous.get('/status')).status).toBe(200);
  expect((await owner.client.get('/installs')).status).toBe(200);
  expect(Reflect.get({}, 'polluted')).toBeUndefined();
  expect(failures).toEqual([]);
  agent.destroy();
  await homeport.remove();
});

interface Sent {
  method: string;
  target: string;
  headers?: Record<string, string>;
  body?: Buffer | undefined;
}

/** Sends a raw request and checks the invariants of every response. Returns the status. */
async function send({ method, target, headers = {}, body }: Sent): Promise<number> {
  const before = process.cpuUsage();
  const asked = request(`${homeport.origin}/`, {
    method,
    agent,
    // Not a part of the URL: that would be made a proper one.
    path: target,
    headers: {
      authorization,
      ...(body === undefined ? {} : { 'content-type': 'application/json', 'content-length': body.length }),
      ...headers,
    },
  });
  asked.end(body);
  const response: IncomingMessage = await new Promise((resolve, reject) =>
    asked.on('response', resolve).on('error', reject),
  );
  const answer = decoded(response.headers, await buffer(response));
  const status = response.statusCode ?? 0;
  const about = `${method} ${target.slice(0, 200)} → ${status} ${answer.slice(0, 300)} ${failures.at(-1) ?? ''}`;
  expect(status, about).toBeLessThan(500);
  expect(answer, about).not.toMatch(/\n\s+at |node_modules|\.ts:\d+/);
  const { user } = process.cpuUsage(before);
  expect(user / 1_000, about).toBeLessThan(SLOW_MS);
  const path = target.split(/[?#]/)[0] ?? '';
  if (path.startsWith('/v1')) conforms(method, path, status, answer);
  return status;
}

const jsonBytes = (value: unknown): Buffer => Buffer.from(JSON.stringify(value) ?? '');

describe(`seed ${SEED}`, () => {
  describe.each(ENDPOINTS.map((row) => [nameOf(row), row] as const))('%s', (_, row) => {
    async function sendTo(of: EndpointRow, sent: Omit<Sent, 'method'>): Promise<void> {
      const status = await send({ method: of.method, ...sent });
      // The request may have deleted or changed a resource that the next one needs.
      if (of.method !== 'GET' && status < 300) resources = await createResources(homeport, owner, accountId);
    }

    it('answers every body, query and header within its row', async () => {
      const valid = bodyFor(row, { ...absentResources(), account_id: accountId });
      const body = fc.oneof(
        { weight: 4, arbitrary: row.hasBody ? changesTo(valid) : fc.constant(undefined) },
        { weight: 1, arbitrary: hostileJson },
      );
      await fc.assert(
        fc.asyncProperty(body, hostileQuery, hostileHeaders, async (given, query, headers) => {
          const bytes = Array.isArray(given) ? jsonBytes(changed(bodyFor(row, resources), given)) : given;
          await sendTo(row, { target: `/v1${pathWith(row.path, resources)}${query}`, headers, body: bytes });
        }),
        settings(row.hasBody ? 120 : 30, row.number),
      );
    });

    if (idsOf(row).length === 0) return;
    it('answers every identifier within its row', async () => {
      const ids = fc.record(Object.fromEntries(idsOf(row).map((id) => [id, hostileSegment])), {
        requiredKeys: [],
      });
      await fc.assert(
        fc.asyncProperty(ids, hostileQuery, async (replaced, query) => {
          const valid = bodyFor(row, { ...absentResources(), account_id: accountId });
          const target = `/v1${pathWith(row.path, { ...resources, ...replaced })}${query}`;
          await sendTo(row, { target, body: valid === undefined ? undefined : jsonBytes(valid) });
        }),
        settings(30, 100 + row.number),
      );
    });
  });

  it('answers every method and path', async () => {
    const methods = fc.constantFrom(
      'GET',
      'POST',
      'PUT',
      'PATCH',
      'DELETE',
      'OPTIONS',
      'TRACE',
      'PROPFIND',
      'LINK',
      'M-SEARCH',
    );
    const path = fc
      .array(
        fc.oneof(hostileSegment, fc.constantFrom('v1', 'sites', 'installs', 'docs', 'invitations', 'static')),
        {
          maxLength: 6,
        },
      )
      .map((segments) => `/${segments.join('/')}`);
    await fc.assert(
      fc.asyncProperty(
        methods,
        path,
        hostileQuery,
        hostileHeaders,
        async (method, target, query, headers) => {
          if (method === 'OPTIONS') return;
          await send({ method, target: `${target}${query}`.slice(0, 12_000), headers });
        },
      ),
      settings(300, 201),
    );
  });

  it('answers every credential', async () => {
    const header = fc.oneof(
      hostileText.map((text) => `Basic ${Buffer.from(text).toString('base64')}`),
      fc
        .tuple(hostileText, hostileText)
        .map(([name, word]) => `Basic ${Buffer.from(`${name}:${word}`).toString('base64')}`),
      hostileText.map((text) => text.replace(/[^\x20-\x7e\xa0-\xff]/g, '?')),
    );
    await fc.assert(
      fc.asyncProperty(header, async (value) => {
        const status = await send({
          method: 'GET',
          target: '/v1/user',
          headers: { authorization: value.slice(0, 10_000) },
        });
        expect(status).toBe(401);
      }),
      settings(150, 202),
    );
  });

  it('answers, or closes, whatever bytes come over TLS and over plain TCP', async () => {
    const token = fc.oneof(
      fc.constantFrom('GET', 'POST', 'DELETE', 'get', '', 'G ET', 'CONNECT', 'PRI', '\0'),
      fc.string({ maxLength: 9 }),
    );
    const target = fc.oneof(
      fc.constantFrom(
        '/v1/status',
        '/v1/sites',
        '*',
        '//',
        'http://',
        'https://[::1',
        'localhost:443',
        '/v1/sites#\u0001',
        '',
        '?',
      ),
      hostileSegment.map((segment) => `/v1/sites/${segment}`),
      fc.string({ unit: anyCharacter, maxLength: 40 }),
    );
    const version = fc.constantFrom(
      'HTTP/1.1',
      'HTTP/1.0',
      'HTTP/0.9',
      'HTTP/2.0',
      'HTTP/1.1 ',
      'ICE/1.0',
      '',
    );
    const headerLine = fc.oneof(
      fc.constantFrom(
        'Content-Length: 5',
        'Content-Length: 5, 5',
        'Content-Length: -5',
        'Content-Length: 99999999999999999999999',
        'Transfer-Encoding: chunked',
        'Transfer-Encoding: chunked, chunked',
        'Transfer-Encoding: gzip',
        'Transfer-Encoding : chunked',
        'Expect: 100-continue',
        'Expect: nonsense',
        'Connection: upgrade, close',
        'Upgrade: websocket',
        'Host: a',
        'Host: a, b',
        'Content-Type: application/json',
        'Authorization: Basic eA==',
        'Authorization: Basic eQ==',
        ' folded',
        ':empty',
        'no colon',
        `X: ${'y'.repeat(20_000)}`,
        `${'X'.repeat(20_000)}: y`,
        'X: a\0b',
        'X: a\rb',
        'X: \u00ff\u00fe',
      ),
      fc
        .tuple(fc.string({ maxLength: 10 }), fc.string({ unit: anyCharacter, maxLength: 30 }))
        .map((pair) => pair.join(': ')),
    );
    const newline = fc.constantFrom('\r\n', '\r\n', '\r\n', '\n', '\r', '');
    const rest = fc.oneof(
      fc.constantFrom(
        '',
        '{"a"',
        '5\r\nhello\r\n0\r\n\r\n',
        'zz\r\n',
        '0\r\n\r\n',
        '1;a=b\r\nx\r\n0\r\nTrailer: x\r\n\r\n',
      ),
      fc.string({ unit: anyCharacter, maxLength: 50 }),
    );
    const message = fc
      .tuple(token, target, version, fc.array(headerLine, { maxLength: 6 }), newline, rest)
      .map(([method, path, protocol, headers, end, body]) =>
        Buffer.from(
          [`${method} ${path} ${protocol}`, 'Connection: close', ...headers, '', body].join(end),
          'latin1',
        ),
      );
    const bytes = fc.oneof(
      { weight: 5, arbitrary: message },
      fc.uint8Array({ maxLength: 300 }).map((array) => Buffer.from(array)),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(bytes, { minLength: 20, maxLength: 20 }), async (batch) => {
        const port = homeport.api?.port ?? 0;
        const answers = await Promise.all(
          batch.map((sent, index) =>
            exchange(index % 4 === 0 ? { port } : { port, ca: homeport.ca }, sent, 250),
          ),
        );
        for (const [index, answer] of answers.entries()) {
          const about = `${JSON.stringify(batch[index]?.toString('latin1').slice(0, 300))} → ${answer.slice(0, 300)}`;
          for (const status of statusesIn(answer))
            expect([100, 200, 204, 400, 401, 403, 404, 429], about).toContain(status);
          expect(answer, about).not.toMatch(/\n\s+at |node_modules|\.ts:\d+/);
        }
        expect((await homeport.anonymous.get('/status')).status).toBe(200);
      }),
      settings(12, 203),
    );
  });
});
