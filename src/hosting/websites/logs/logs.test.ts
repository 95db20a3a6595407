import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it, test } from 'vitest';
import { temporaryFolder } from '../../../../test/database.ts';
import { type ManualClock, manualClock } from '../../../../test/manual-clock.ts';
import { DAY_MS, HOUR_MS } from '../../../lib/durations.ts';
import type { AccessEntry, CronEntry, LogPage, LogQuery } from '../../contract/logs.ts';
import { canonicalAddress, shortenAddress, shortenAddresses } from './addresses.ts';
import { createInstallLogs, type InstallLogs } from './install-logs.ts';
import { logLine } from './log-line.ts';
import { readLog } from './read-log.ts';
import { deleteOld, tendLogs } from './upkeep.ts';

const ID = '0b6f3c1a-8d52-4f7e-9a10-2c3d4e5f6071';
const START = new Date('2026-03-10T10:00:00.000Z');

let place: ReturnType<typeof temporaryFolder>;
let folder: string;
let clock: ManualClock;
let logs: InstallLogs;
let logged: string[];
let number = 0;

beforeEach(async () => {
  place = temporaryFolder();
  folder = join(place.path, 'logs');
  await mkdir(folder, { recursive: true });
  clock = manualClock(START);
  logged = [];
  number = 0;
  logs = createInstallLogs({
    folderOf: () => folder,
    clock,
    log: pino({}, { write: (text: string) => logged.push(text) }),
    days: 14,
    segmentBytes: 2_000,
  });
});
afterEach(() => place.remove());

function request(changes: Partial<AccessEntry> = {}): AccessEntry {
  number += 1;
  return {
    time: clock.now().toISOString(),
    address: '192.0.2.77',
    method: 'GET',
    scheme: 'https',
    host: 'shop.test',
    path: `/page-${number}`,
    status: 200,
    bytes: 512,
    cache: 'MISS',
    seconds: 0.031,
    php_seconds: null,
    user_agent: 'Firefox',
    referrer: '',
    ...changes,
  };
}

/** Appends requests, a second apart. */
async function visit(count: number, changes: Partial<AccessEntry> = {}): Promise<void> {
  for (let turn = 0; turn < count; turn++) {
    await logs.append('access', ID, [request(changes)]);
    clock.advance(1_000);
  }
}

function read(asked: Partial<LogQuery> = {}, now: () => number = () => 0): Promise<LogPage> {
  const query: LogQuery = {
    kind: 'access',
    from: null,
    to: null,
    search: null,
    status: null,
    cursor: null,
    direction: 'older',
    limit: 100,
    ...asked,
  };
  return readLog(folder, query, { now, withinMs: 10, today: clock.now().toISOString().slice(0, 10) });
}

const pathsOf = ({ lines }: LogPage) => lines.map((line): unknown => JSON.parse(line).path);
const numbers = (first: number, last: number) => {
  const step = first <= last ? 1 : -1;
  return Array.from({ length: Math.abs(last - first) + 1 }, (_, index) => `/page-${first + step * index}`);
};

/** Follows the cursors to the end. */
async function readAll(asked: Partial<LogQuery>): Promise<unknown[]> {
  const paths: unknown[] = [];
  let cursor: string | null = null;
  do {
    const page: LogPage = await read({ ...asked, cursor });
    paths.push(...pathsOf(page));
    ({ cursor } = page);
  } while (cursor !== null);
  return paths;
}

describe('reading', () => {
  it('goes from the newest entry to the oldest, over all files', async () => {
    await visit(40);
    expect((await readdir(folder)).length).toBeGreaterThan(2);
    expect(pathsOf(await read())).toEqual(numbers(40, 1));
    for (const limit of [1, 7, 40]) expect(await readAll({ limit })).toEqual(numbers(40, 1));
  });

  it('follows what is appended after a cursor, also in later files', async () => {
    expect(await read()).toMatchObject({ lines: [], cursor: null });
    await visit(3);
    const { end } = await read();
    expect(await read({ direction: 'newer', cursor: end })).toEqual({ lines: [], cursor: end, end });
    await visit(30);
    const first = await read({ direction: 'newer', cursor: end, limit: 4 });
    expect(pathsOf(first)).toEqual(numbers(4, 7));
    const rest = await read({ direction: 'newer', cursor: first.cursor });
    expect(pathsOf(rest)).toEqual(numbers(8, 33));
    expect(rest.cursor).toBe(rest.end);
  });

  it('goes on at the end after a cursor beyond all entries', async () => {
    const { end: before } = await read();
    clock.advance(DAY_MS);
    for (const cursor of [before, '9999-12-31.1.1', '2026-03-11.1.7']) {
      const { cursor: next, end } = await read({ direction: 'newer', cursor });
      expect(next, cursor).toBe(end);
    }
    await visit(2);
    const { end } = await read();
    for (const cursor of ['9999-12-31.1.1', '2026-03-11.1.999999']) {
      expect(await read({ direction: 'newer', cursor }), cursor).toEqual({ lines: [], cursor: end, end });
    }
    await visit(1);
    expect(pathsOf(await read({ direction: 'newer', cursor: end }))).toEqual(['/page-3']);
  });

  it('is limited to a range of time', async () => {
    await visit(20);
    clock.advance(2 * DAY_MS);
    await visit(20);
    const at = (seconds: number) => new Date(START.getTime() + seconds * 1000).toISOString();
    expect(await readAll({ from: at(5), to: at(9) })).toEqual(numbers(9, 6));
    expect(await readAll({ to: at(3) })).toEqual(numbers(3, 1));
    expect(await readAll({ from: at(100) })).toEqual(numbers(40, 21));
    expect(await readAll({ from: at(1e6) })).toEqual([]);
  });

  it('finds texts in values, in upper or lower case, but no names of fields', async () => {
    await visit(5);
    await visit(1, { user_agent: 'Ünique "Bot\\1"\u001b[31m' });
    await visit(5, { path: '/Shop/x' });
    for (const search of ['bot\\1', '"bot', 'NIQUE "', 'Ünique']) {
      expect(pathsOf(await read({ search })), search).toEqual(['/page-6']);
    }
    expect(pathsOf(await read({ search: '/shop/' }))).toHaveLength(5);
    for (const search of ['user_agent', '"time":', 'page.6', 'page-6/']) {
      expect(pathsOf(await read({ search })), search).toEqual([]);
    }
  });

  it('is limited to a status or a class of them', async () => {
    await visit(3);
    await visit(1, { status: 404 });
    await visit(1, { status: 499, path: '/404' });
    await visit(1, { status: 0 });
    await visit(1, { status: 200, path: '/404' });
    expect(pathsOf(await read({ status: '404' }))).toEqual(['/page-4']);
    expect(pathsOf(await read({ status: '4xx' }))).toEqual(['/404', '/page-4']);
    expect(pathsOf(await read({ status: '4xx', search: '/404' }))).toEqual(['/404']);
    expect(pathsOf(await read({ status: '5xx' }))).toEqual([]);
  });

  it('ends early with a cursor if a search takes too long', async () => {
    await visit(40);
    let now = 0;
    const hurried = await read({ search: 'page-1"', limit: 1 }, () => (now += 5));
    expect(hurried.lines).toEqual([]);
    expect(hurried.cursor).not.toBeNull();
    expect(await readAll({ search: 'page-12' })).toEqual(['/page-12']);
  });

  it('ignores cursors of deleted files, invented ones, and damaged lines', async () => {
    await visit(10);
    expect(pathsOf(await read({ cursor: '2026-03-09.1.7' }))).toEqual([]);
    expect(pathsOf(await read({ cursor: '2026-03-11.999999.999999999999' }))).toHaveLength(10);
    expect(pathsOf(await read({ cursor: '2026-03-09.1.7', direction: 'newer' }))).toHaveLength(10);
    const [newest = ''] = (await readdir(folder)).sort();
    await writeFile(join(folder, newest), `{"time":"2026-03-10T10:00:00.000Z","path":\n\n[]\nnull\n`, {
      flag: 'a',
    });
    expect(pathsOf(await read())).toHaveLength(10);
  });
});

describe('writing', () => {
  it('keeps each entry on its own line, whatever its texts contain', async () => {
    const run: CronEntry = {
      time: START.toISOString(),
      seconds: 1,
      exit: 255,
      output: 'a\n{"time":"2026-03-10T10:00:00.000Z","output":"forged"}\r\u0085\u2028\u202e\u001b]0;x\u0007',
    };
    await logs.append('cron', ID, [run]);
    const text = await readFile(join(folder, 'cron-2026-03-10.log'), 'utf8');
    expect(text.trimEnd()).not.toMatch(/[\p{Cc}\u2028\u2029\p{Bidi_Control}]/u);
    expect((await read({ kind: 'cron' })).lines.map((line): unknown => JSON.parse(line))).toEqual([run]);
  });

  it('cuts long texts', () => {
    const line = logLine<'php'>({
      time: START.toISOString(),
      level: 'error',
      message: '\u0001'.repeat(100_000),
    });
    expect(Buffer.byteLength(line)).toBeLessThanOrEqual(16 * 1024);
    expect(JSON.parse(line).message).toMatch(/…$/);
    const mail = logLine<'mail'>({
      ...{ time: START.toISOString(), id: null, event: 'refused', sender: '', reason: null },
      ...{ recipients: Array(20).fill('x'.repeat(1e5)), recipient_count: 20, bytes: null },
    });
    expect(Buffer.byteLength(mail)).toBeLessThanOrEqual(16 * 1024);
    expect(JSON.parse(mail).recipients).toHaveLength(20);
  });

  it('puts entries into the files of their days, and drops those that are too old', async () => {
    const dayOf = (days: number) => new Date(START.getTime() - days * DAY_MS).toISOString();
    await logs.append(
      'access',
      ID,
      [13, 14, 1, 0].map((days) => request({ time: dayOf(days) })),
    );
    expect((await readdir(folder)).sort()).toEqual([
      'access-2026-02-25.log',
      'access-2026-03-09.log',
      'access-2026-03-10.log',
    ]);
  });

  it('begins a line after one that a crash cut off', async () => {
    await writeFile(join(folder, 'access-2026-03-10.log'), '{"time":"2026-03-10T10:0');
    await visit(2);
    expect(pathsOf(await read())).toEqual(numbers(2, 1));
  });

  it('drops the entries of removed installs, and reports a failure once', async () => {
    await rm(folder, { recursive: true });
    await visit(1);
    expect(logged).toEqual([]);
    await writeFile(folder, '');
    await visit(2);
    expect(logged.map((text): unknown => JSON.parse(text).msg)).toEqual([
      'could not write the logs of installs',
    ]);
    await logs.append('access', '../../etc', [request()]);
  });
});

describe('addresses', () => {
  it.each([
    ['192.0.2.77', '192.0.2.0'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1::'],
    ['::ffff:192.0.2.77', '192.0.2.0'],
    ['::1', '::'],
    ['unix:', 'unknown'],
  ])('%s is shortened to %s', (address, shortened) => {
    expect(shortenAddress(address)).toBe(shortened);
  });

  it('are shortened in place, once they are old enough', async () => {
    const addresses = ['192.0.2.77', '2001:db8:1:2:3:4:5:6', 'a:0:0:1::', '1.1.1.1', '192.0.2.0'];
    const lines = addresses.map((address, index) =>
      logLine<'access'>(
        request({ address: canonicalAddress(address), time: new Date(index * 1000).toISOString() }),
      ),
    );
    const before = Buffer.from(lines.join(''));
    const buffer = Buffer.from(before);
    const { done, changed } = shortenAddresses(buffer, 3_500);
    expect([done, changed]).toEqual([before.length - Buffer.byteLength(lines[4] ?? ''), true]);
    const shown = buffer
      .toString()
      .trim()
      .split('\n')
      .map((line): unknown => JSON.parse(line).address);
    expect(shown).toEqual(['192.0.2.0', '2001:db8:1::', 'a::', '1.1.1.0', '192.0.2.0']);
    expect(shortenAddresses(buffer, 3_500)).toEqual({ done, changed: false });
  });

  it('never grow', () => {
    const parts = ['0', '1', 'abcd'];
    const groups = Array.from({ length: 8 });
    for (let seed = 0; seed < parts.length ** 8; seed += 7) {
      let rest = seed;
      const text = groups.map(() => {
        const part = parts[rest % 3];
        rest = Math.floor(rest / 3);
        return part;
      });
      const whole = canonicalAddress(text.join(':'));
      expect(shortenAddress(whole).length, whole).toBeLessThanOrEqual(whole.length);
    }
  });
});

describe('upkeep', () => {
  const rules = { days: 14, wholeAddressMs: 24 * HOUR_MS, mostBytes: 1e9 };
  const tend = (changes: Partial<typeof rules> = {}) =>
    tendLogs(folder, ID, { logs, rules: { ...rules, ...changes }, now: clock.now() });
  const addresses = async () =>
    new Set((await read({ limit: 500 })).lines.map((line): unknown => JSON.parse(line).address));

  test('addresses are shortened after a day, and files compressed after that', async () => {
    await visit(20);
    const { cursor } = await read({ limit: 5 });
    clock.advance(23 * HOUR_MS);
    await tend();
    expect(await addresses()).toEqual(new Set(['192.0.2.77']));
    clock.advance(HOUR_MS);
    await tend();
    expect(await addresses()).toEqual(new Set(['192.0.2.0']));
    expect((await readdir(folder)).filter((name) => name.endsWith('.zst'))).toEqual([]);
    clock.advance(DAY_MS);
    await tend();
    const names = await readdir(folder);
    expect(names.filter((name) => name.endsWith('.log.zst'))).toEqual(names);
    expect(pathsOf(await read())).toEqual(numbers(20, 1));
    // Positions stay.
    expect(pathsOf(await read({ cursor }))).toEqual(numbers(15, 1));
    expect(pathsOf(await read({ search: 'PAGE-7' }))).toEqual(['/page-7']);
  });

  test('late entries of a compressed day get another file', async () => {
    await visit(3);
    clock.advance(3 * DAY_MS);
    await tend();
    await logs.append('access', ID, [request({ time: new Date(START.getTime() + 5_000).toISOString() })]);
    expect(pathsOf(await read())).toEqual(numbers(4, 1));
    expect((await readdir(folder)).sort()).toEqual(['access-2026-03-10.2.log', 'access-2026-03-10.log.zst']);
  });

  test('an entry that is older than the range, in a later file, hides no earlier file', async () => {
    clock.advance(HOUR_MS);
    await visit(3);
    clock.advance(3 * DAY_MS);
    await tend();
    await logs.append('access', ID, [request({ time: START.toISOString() })]);
    const from = new Date(START.getTime() + HOUR_MS).toISOString();
    expect(pathsOf(await read({ from }))).toEqual(numbers(3, 1));
  });

  test('files that begin after the range are left out', async () => {
    for (let hour = 0; hour < 4; hour++) {
      await visit(10);
      clock.advance(HOUR_MS);
    }
    clock.advance(3 * DAY_MS);
    await tend();
    expect((await readdir(folder)).length).toBeGreaterThan(3);
    const hour = START.getTime() + HOUR_MS + 10_000;
    const [from, to] = [hour, hour + 15_000].map((time) => new Date(time).toISOString());
    expect(await readAll({ from, to })).toEqual(numbers(20, 11));
    expect(await readAll({ to, limit: 3 })).toEqual(numbers(20, 1));
  });

  test('old files are deleted', async () => {
    await visit(3);
    clock.advance(13 * DAY_MS);
    await tend();
    expect(await readdir(folder)).toHaveLength(1);
    clock.advance(DAY_MS);
    await tend();
    expect(await readdir(folder)).toEqual([]);
  });

  test('if the logs are too large, the oldest files of the largest log go first', async () => {
    await logs.append('cron', ID, [{ time: START.toISOString(), seconds: 1, exit: 0, output: '' }]);
    await visit(60);
    await deleteOld(folder, { days: 14, mostBytes: 6_000 }, clock.now());
    const paths = pathsOf(await read());
    expect(paths[0]).toBe('/page-60');
    expect(paths.length).toBeGreaterThan(5);
    expect(paths.length).toBeLessThan(30);
    expect((await read({ kind: 'cron' })).lines).toHaveLength(1);
  });
});
