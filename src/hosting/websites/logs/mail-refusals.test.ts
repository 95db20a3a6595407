import { pino } from 'pino';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { temporaryFolder } from '../../../../test/database.ts';
import { type ManualClock, manualClock } from '../../../../test/manual-clock.ts';
import { DAY_MS } from '../../../lib/durations.ts';
import type { MailEntry } from '../../contract/logs.ts';
import { createHostLogs, type HostLogs } from './host-logs.ts';
import { readMailRefusals } from './mail-refusals.ts';

const ID = '0b6f3c1a-8d52-4f7e-9a10-2c3d4e5f6071';

let place: ReturnType<typeof temporaryFolder>;
let clock: ManualClock;
let logs: HostLogs;

beforeEach(() => {
  place = temporaryFolder();
  clock = manualClock();
  logs = createHostLogs({
    recordsOf: () => ({ logs: place.path, openErrorLog: async () => null }),
    rules: { days: 14, wholeAddressMs: null, mostBytes: 1024 ** 2 },
    installs: () => [ID],
    clock,
    log: pino({ level: 'silent' }),
  });
});
afterEach(() => place.remove());

async function log(event: MailEntry['event'], reason: string | null, recipients = ['a@x.example']) {
  clock.advance(1_000);
  const time = clock.now().toISOString();
  const entry = { id: null, event, sender: 's@x.example', recipients, bytes: 1, reason };
  await logs.append('mail', ID, [{ time, recipient_count: recipients.length, ...entry }]);
}

const listed = () => readMailRefusals(logs, ID, clock.now());

it('lists what the host and the relay refused, latest first', async () => {
  expect(await listed()).toEqual([]);
  await log('refused', 'too old');
  clock.advance(8 * DAY_MS);
  await log('queued', null);
  await log('refused', 'the limit is reached', ['a', 'b', 'c', 'd']);
  await log('deferred', 'the last one was refused');
  await log('failed', '550 no such user');
  expect(await listed()).toEqual([
    { time: expect.any(String), reason: '550 no such user', recipients: ['a@x.example'] },
    { time: expect.any(String), reason: 'the limit is reached', recipients: ['a', 'b', 'c'] },
  ]);
  for (let at = 0; at < 30; at++) await log('refused', `reason ${at}`);
  const last = await listed();
  expect(last).toHaveLength(20);
  expect(last[0]?.reason).toBe('reason 29');
});
