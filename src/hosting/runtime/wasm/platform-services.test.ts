import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import pino from 'pino';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { eventually } from '../../policy/edge.fixture.ts';
import { listenForProcess, type ServiceOptions } from './platform-services.ts';
import { SERVICE_DONE, SERVICE_REFUSED } from './process-protocol.ts';

let folder: string;
let path: string;
let services: Server;
let impatient: Server;
const outside = createServer((socket) => socket.end('outside'));
let port = 0;
/** Look-ups that have begun, with what ends them. */
const lookUps: { host: string; found(addresses: string[]): void; failed(error: Error): void }[] = [];
let now = 1_000;
/** The outside, by another address. */
const REFUSED = '::ffff:127.0.0.1';

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'services-'));
  path = join(folder, 's');
  outside.listen(0, '127.0.0.1');
  await once(outside, 'listening');
  const address = outside.address();
  port = typeof address === 'object' && address !== null ? address.port : 0;
  const options: ServiceOptions = {
    mayConnect: (address) => address !== REFUSED,
    loopback: () => undefined,
    loopbacks: { add() {} },
    deliverMail: async () => {},
    lookUp(host) {
      const { promise, resolve, reject } = Promise.withResolvers<string[]>();
      lookUps.push({ host, found: resolve, failed: reject });
      return promise;
    },
    now: () => now,
    log: pino({ level: 'silent' }),
  };
  services = await listenForProcess(path, 'one', options);
  impatient = await listenForProcess(`${path}2`, 'two', { ...options, lookUpMs: 50 });
});
afterAll(async () => {
  services.close();
  impatient.close();
  outside.close();
  await rm(folder, { recursive: true });
});
beforeEach(() => {
  lookUps.length = 0;
});

function ask(host: string, at = path) {
  const socket = connect(at);
  socket.write(`${JSON.stringify({ service: 'connect', host, port })}\n`);
  return socket;
}

it('looks up one name of a website at a time', async () => {
  const slow = ask('slow.test');
  await eventually(() => lookUps.length === 1);
  const next = ask('next.test');
  expect(await text(ask('127.0.0.1'))).toBe(`${SERVICE_DONE}outside`);
  expect(lookUps.map(({ host }) => host)).toEqual(['slow.test']);
  lookUps[0]?.found([]);
  expect(await text(slow)).toBe(SERVICE_REFUSED);
  await eventually(() => lookUps.length === 2);
  lookUps[1]?.found(['127.0.0.1']);
  expect(await text(next)).toBe(`${SERVICE_DONE}outside`);
});

it('does not look up a name again for a while that was not found', async () => {
  const first = ask('missing.test');
  await eventually(() => lookUps.length === 1);
  lookUps[0]?.failed(new Error('ENOTFOUND'));
  expect(await text(first)).toBe(SERVICE_REFUSED);
  expect(await text(ask('missing.test'))).toBe(SERVICE_REFUSED);
  expect(lookUps).toHaveLength(1);
  now += 31_000;
  const later = ask('missing.test');
  await eventually(() => lookUps.length === 2);
  lookUps[1]?.found(['127.0.0.1']);
  expect(await text(later)).toBe(`${SERVICE_DONE}outside`);
});

it('looks up a name again that waited for another one all the time', async () => {
  const silent = ask('silent.test', `${path}2`);
  await eventually(() => lookUps.length === 1);
  const waiting = ask('waiting.test', `${path}2`);
  expect(await text(silent)).toBe(SERVICE_REFUSED);
  expect(await text(waiting)).toBe(SERVICE_REFUSED);
  lookUps[0]?.failed(new Error('ETIMEOUT'));
  await eventually(() => lookUps.length === 2);
  lookUps[1]?.found(['127.0.0.1']);
  const again = ask('waiting.test', `${path}2`);
  await eventually(() => lookUps.length === 3);
  lookUps[2]?.found(['127.0.0.1']);
  expect(await text(again)).toBe(`${SERVICE_DONE}outside`);
});

it('connects to the next address of a name if one does not answer, and never to one that is refused', async () => {
  const twoFamilies = ask('two-families.test');
  await eventually(() => lookUps.length === 1);
  // Nothing listens at the first two.
  lookUps[0]?.found(['::1', '127.0.0.9', '127.0.0.1']);
  expect(await text(twoFamilies)).toBe(`${SERVICE_DONE}outside`);
  const refused = ask('refused.test');
  await eventually(() => lookUps.length === 2);
  lookUps[1]?.found(['::1', REFUSED]);
  expect(await text(refused)).toBe(SERVICE_REFUSED);
});
