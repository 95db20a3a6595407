import { expect, it } from 'vitest';
import type { Notification } from '../../../api/notifications.ts';
import { byDay } from './days.ts';

const at = (last_at: string): Notification => ({
  ...{ id: last_at, account_id: 'a', account_name: 'A', install_id: null, install_name: null },
  ...{ category: 'backups', severity: 'error', title: 'x', message: null, path: '/', count: 1 },
  ...{ first_at: last_at, last_at, read: false, retry_operation_id: null },
});

it('groups by the day, latest first', () => {
  const now = new Date('2026-03-02T12:00:00Z');
  const rows = [
    '2026-03-02T11:00:00Z',
    '2026-03-02T10:00:00Z',
    '2026-03-01T12:00:00Z',
    '2026-02-20T12:00:00Z',
  ];
  expect(byDay(rows.map(at), now).map(({ label, of }) => [label, of.length])).toEqual([
    ['Today', 2],
    ['Yesterday', 1],
    ['Friday, 20 February 2026', 1],
  ]);
});
