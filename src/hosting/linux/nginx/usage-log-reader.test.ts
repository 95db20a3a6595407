import {
  appendFileSync,
  closeSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type ManualClock, manualClock } from '../../../../test/manual-clock.ts';
import { onlyInLong } from '../../../../test/rounds.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../lib/durations.ts';
import { createEdgeCounts } from '../../policy/usage/edge-counts.ts';
import { createUsageLedger, type UsageLedger } from '../../policy/usage/ledger.ts';
import { createUsageLogReader } from './usage-log-reader.ts';

const INSTALL = '0b8f7f4e-8f0f-4f5a-9a51-6d2f3c1d0001';
const NOW = new Date('2026-03-01T12:00:00Z');

let folder: string;
let ledger: UsageLedger;
let messages: string[];
let clock: ManualClock;
beforeEach(() => {
  clock = manualClock(NOW);
  folder = mkdtempSync(join(tmpdir(), 'homeport-usage-log-'));
  messages = [];
  const log = pino({}, { write: (line: string) => messages.push(line) });
  const file = `${folder}.sqlite`;
  ledger = createUsageLedger({ file, clock, log, flushMs: HOUR_MS });
  ledger.start();
});
afterEach(async () => {
  await ledger.stop();
  for (const place of [folder, ...['', '-wal', '-shm'].map((end) => `${folder}.sqlite${end}`)]) {
    rmSync(place, { recursive: true, force: true });
  }
});

function readerOf(limits: { mostWaitingBytes?: number; mostDelays?: number }) {
  return createUsageLogReader({
    counts: createEdgeCounts(),
    folder,
    ledger,
    accessLogs: { append: async () => {} },
    // As nginx does.
    reopen: async () => writeFileSync(join(folder, 'requests.log'), ''),
    log: pino({}, { write: (line: string) => messages.push(line) }),
    clock,
    ...limits,
  });
}

function request(
  agent: string,
  cache = 'HIT',
  seconds = 0.001,
  log: string | number = join(folder, 'requests.log'),
): void {
  const fields = [INSTALL, NOW.getTime() / 1_000, 100, '192.0.2.1', agent];
  const answer = ['200', 'GET', 'https', 'shop.test', '/', '', cache, seconds, ''];
  appendFileSync(log, `${JSON.stringify([...fields, ...answer])}\n`);
}

function bytesInFolder(): number {
  return readdirSync(folder).reduce((sum, name) => sum + 512 * statSync(join(folder, name)).blocks, 0);
}

function change(statement: string): void {
  const file = new Sqlite(`${folder}.sqlite`);
  file.exec(statement);
  file.close();
}

const FULL = `create trigger full before insert on days begin select raise(abort, 'disk is full'); end`;

test('while the counts cannot be stored, the logs have a limit, and no count is lost', async () => {
  const agent = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';
  request(agent);
  const one = bytesInFolder();
  const most = 8 * one;
  const reader = readerOf({ mostWaitingBytes: most, mostDelays: 0 });
  change(FULL);
  const requests = 60;
  for (let n = 1; n < requests; n++) {
    await reader.collect();
    clock.advance(10 * SECOND_MS);
    request(agent);
    // Three more logs are not read to their ends yet.
    expect(bytesInFolder()).toBeLessThanOrEqual(most + 3 * one);
  }
  expect(readdirSync(folder).length).toBeGreaterThan(5);
  expect(messages.filter((line) => line.includes('its oldest logs are deleted'))).toHaveLength(1);

  change('drop trigger full');
  await reader.collect();
  await reader.collect();
  clock.advance(MINUTE_MS);
  await reader.collect();
  expect(readdirSync(folder)).toEqual(['requests.log']);
  expect(ledger.read(null).days).toMatchObject([{ requests, bytes: 100 * requests, visits: 1 }]);
});

onlyInLong(test)('while the counts cannot be stored, small logs are renamed less often', async () => {
  const reader = readerOf({});
  change(FULL);
  const requests = 40;
  for (let n = 0; n < requests; n++) {
    request('curl/8.0');
    await reader.collect();
    clock.advance(10 * SECOND_MS);
  }
  // Until the first failure, one log at each reading; then one more.
  expect(readdirSync(folder).length).toBeLessThan(8);

  change('drop trigger full');
  await reader.collect();
  await reader.collect();
  clock.advance(MINUTE_MS);
  await reader.collect();
  expect(readdirSync(folder)).toEqual(['requests.log']);
  expect(ledger.read(null).days).toMatchObject([{ requests }]);
});

test('pages are requests that asked the page cache', async () => {
  request('curl/8', '', 9);
  request('curl/8', 'STALE', 0.002);
  request('curl/8', 'BYPASS', 0.3);
  await readerOf({}).collect();
  expect(ledger.read(null).days).toMatchObject([
    { requests: 3, pages: { requests: 2, hits: 1, milliseconds: 302 } },
  ]);
});

test('what a slow worker writes to a renamed log is counted, however often the log is read', async () => {
  const reader = readerOf({});
  request('curl/8');
  const worker = openSync(join(folder, 'requests.log'), 'a');
  for (let n = 0; n < 5; n++) await reader.collect();
  request('curl/8', '', 0, worker);
  closeSync(worker);
  await reader.collect();
  expect(ledger.read(null).days).toMatchObject([{ requests: 2 }]);
  clock.advance(MINUTE_MS);
  await reader.collect();
  expect(readdirSync(folder)).toEqual(['requests.log']);
});

test('what a worker writes while the counts of a quiet log are stored is counted', async () => {
  const reader = readerOf({});
  request('curl/8');
  const worker = openSync(join(folder, 'requests.log'), 'a');
  await reader.collect();
  const { flush } = ledger;
  ledger.flush = () => {
    request('curl/8', '', 0, worker);
    ledger.flush = flush;
    return flush();
  };
  clock.advance(MINUTE_MS);
  await reader.collect();
  closeSync(worker);
  expect(ledger.read(null).days).toMatchObject([{ requests: 2 }]);
  clock.advance(MINUTE_MS);
  await reader.collect();
  expect(readdirSync(folder)).toEqual(['requests.log']);
});
