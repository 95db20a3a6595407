import { expect, test } from 'vitest';
import type { NewestBackup } from '../../features/backups/newest-backup-store.ts';
import { findingsOf, mailFindings, wallFindings } from './hosts.ts';

const BUSY = { thing: 'install shop', message: 'It is being worked on.', mended: null, remedy: null };
const BROKEN = { thing: 'nginx', message: 'It does not run.', mended: null, remedy: 'Look at it.' };

test('a host on which nothing is wrong says so, with how much there is', () => {
  const message = 'All matches the desired state, 2 installs.';
  expect(findingsOf('here', 2, [])).toEqual([{ check: 'here', state: 'ok', message, remedy: null }]);
});

test('reports a skipped install, which is no problem', () => {
  expect(findingsOf('here', 1, [BUSY])).toEqual([
    {
      check: 'here',
      state: 'ok',
      message: 'Everything that was checked matches the desired state, 1 install.',
      remedy: null,
    },
    { check: 'here: install shop', state: 'ok', message: BUSY.message, remedy: null },
  ]);
});

test('reports a difference as a problem until it is repaired', () => {
  expect(findingsOf('here', 1, [BUSY, BROKEN]).map(({ state }) => state)).toEqual(['ok', 'problem']);
  expect(findingsOf('here', 1, [{ ...BROKEN, mended: false }])).toEqual([
    { check: 'here: nginx', state: 'problem', message: BROKEN.message, remedy: BROKEN.remedy },
  ]);
  expect(findingsOf('here', 1, [{ ...BROKEN, mended: true, remedy: null }])).toEqual([
    { check: 'here: nginx', state: 'ok', message: 'It does not run. Fixed.', remedy: null },
  ]);
});

test('names the newest backup of an install that lost data, and the command that restores it', () => {
  const lost = {
    ...BROKEN,
    thing: 'install shop: data',
    mended: false,
    remedy: 'List them.',
    backupOf: 'an-id',
  };
  const backup = {
    id: 'b-id',
    created_at: '2026-01-30T02:00:00.000Z',
    verified_at: '2026-01-30T02:05:00.000Z',
  };
  const remedyFor = (backups: [string, NewestBackup][]) =>
    findingsOf('here', 1, [lost], new Map(backups))[0]?.remedy;
  expect(remedyFor([['an-id', backup]])).toBe(
    'Restore the newest backup, of 2026-01-30 02:00 UTC (verified 2026-01-30 02:05 UTC): homeport backup restore b-id --yes',
  );
  expect(remedyFor([['an-id', { ...backup, verified_at: null }]])).toContain('(never verified)');
  expect(remedyFor([['an-id', { ...backup, pointOf: 'shop' }]])).toBe(
    'Restore the newest recovery point, of 2026-01-30 02:00 UTC: homeport backup recover shop --yes',
  );
  expect(remedyFor([])).toContain('no backup');
});

test('names a host without a relay, and messages that wait for an hour', () => {
  const now = new Date('2026-01-31T12:00:00.000Z');
  const queue = { relay: 'relay.test:25', fault: null, messages: 0, bytes: 0, oldest: null, listed: [] };
  const waiting = (oldest: string) => mailFindings('web1', { ...queue, messages: 2, oldest }, now);
  expect(mailFindings('web1', { ...queue, relay: null }, now)).toMatchObject([
    { check: 'web1: mail', state: 'ok', message: expect.stringContaining('HOMEPORT_RELAY_URL') },
  ]);
  expect(waiting('2026-01-31T11:00:00.000Z')).toMatchObject([
    { state: 'problem', message: expect.stringContaining('2 messages wait') },
  ]);
  expect([...mailFindings('web1', queue, now), ...waiting('2026-01-31T11:00:01.000Z')]).toEqual([]);
});

test('says which walls between websites hold, and what to do about a weaker one', () => {
  const holds = (name: string) => ({ name, weakness: null, remedy: null });
  const check = 'here: walls between websites';
  expect(wallFindings('here', [holds('network'), holds('system calls')])).toEqual([
    { check, state: 'ok', message: 'These hold: network, system calls.', remedy: null },
  ]);
  const weaker = { name: 'network', weakness: 'Websites see it.', remedy: 'Run another kernel.' };
  expect(wallFindings('here', [weaker])).toEqual([
    { check: `${check}: network`, state: 'warning', message: weaker.weakness, remedy: weaker.remedy },
  ]);
  expect(wallFindings('here', [])).toEqual([]);
});
