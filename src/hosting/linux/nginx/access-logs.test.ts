import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { accessLine, createAccessLogs } from './access-logs.ts';
import { parseUsageLine, type UsageLine } from './usage-lines.ts';

const ONE = '0a000000-0000-4000-8000-000000000001';
const TWO = '0a000000-0000-4000-8000-000000000002';

let parent: string;
let folder: string;
let logged: string[];
beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), 'access-logs-'));
  folder = join(parent, 'logs');
  logged = [];
});
afterEach(() => rm(parent, { recursive: true }));

const create = (mostBytes?: number) =>
  createAccessLogs({
    folder,
    log: pino({}, { write: (text: string) => logged.push(text) }),
    ...(mostBytes === undefined ? {} : { mostBytes }),
  });

function line(changes: { id?: string; address?: string; path?: string; upstream?: string } = {}): UsageLine {
  const { id = ONE, address = '192.0.2.77', path = '/shop/', upstream = '0.010, 0.002 : -' } = changes;
  const fields = [id, 1_770_000_000.25, 512, address, 'Firefox', '200', 'GET', 'https', 'shop.test', path];
  const parsed = parseUsageLine(JSON.stringify([...fields, 'https://a.test/', 'MISS', 0.031, upstream]));
  if (parsed === null) throw new Error('not a line');
  return parsed;
}

test('a line has the times and a shortened address', () => {
  expect(JSON.parse(accessLine(line()))).toEqual({
    time: '2026-02-02T02:40:00.250Z',
    address: '192.0.2.0',
    method: 'GET',
    scheme: 'https',
    host: 'shop.test',
    path: '/shop/',
    status: 200,
    bytes: 512,
    cache: 'MISS',
    seconds: 0.031,
    upstream_seconds: 0.012,
    user_agent: 'Firefox',
    referrer: 'https://a.test/',
  });
  expect(JSON.parse(accessLine(line({ upstream: '' })))).toMatchObject({ upstream_seconds: null });
});

test.each([
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1::'],
  ['::ffff:192.0.2.77', '192.0.2.0'],
  ['unix:', 'unknown'],
])('the address %s is logged as %s', (address, kept) => {
  expect(JSON.parse(accessLine(line({ address })))).toMatchObject({ address: kept });
});

test('each install has its own file, which only its owner can read', async () => {
  const logs = create();
  await logs.append([line({ path: '/a' }), line({ id: TWO, path: '/b' }), line({ path: '/c' })]);
  await logs.append([line({ path: '/d' })]);
  const paths = async (id: string) =>
    (await readFile(join(folder, `${id}.log`), 'utf8'))
      .trim()
      .split('\n')
      .map((text) => JSON.parse(text).path);
  expect(await paths(ONE)).toEqual(['/a', '/c', '/d']);
  expect(await paths(TWO)).toEqual(['/b']);
  expect((await stat(join(folder, `${ONE}.log`))).mode & 0o777).toBe(0o600);
});

test('a full log replaces the previous one', async () => {
  const logs = create(1_000);
  for (let round = 0; round < 21; round++) await logs.append([line(), line()]);
  expect((await readdir(folder)).sort()).toEqual([`${ONE}.log`, `${ONE}.log.1`].sort());
  for (const name of await readdir(folder)) {
    expect((await stat(join(folder, name))).size).toBeLessThan(2_000);
  }
});

test('the requests of a removed install are not logged, until it returns', async () => {
  const logs = create();
  await logs.append([line()]);
  await logs.remove(ONE);
  await logs.append([line(), line({ id: TWO })]);
  expect(await readdir(folder)).toEqual([`${TWO}.log`]);
  logs.resume(ONE);
  await logs.append([line()]);
  expect(await readdir(folder)).toHaveLength(2);
});

test('no install is named by a path, and a failure is reported once', async () => {
  const logs = create();
  await logs.append([line({ id: '../../etc/x' })]);
  await writeFile(folder, 'a file');
  await logs.append([line()]);
  await logs.append([line()]);
  expect(logged.map((text) => JSON.parse(text).msg)).toEqual(['could not write the access logs']);
});

test.each(['', '[]', '{}', '["a",1,2,"b","c"]', 'x'])('%j is no line of nginx', (text) => {
  expect(parseUsageLine(text)).toBeNull();
});
