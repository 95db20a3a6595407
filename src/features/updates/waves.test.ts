import { expect, test } from 'vitest';
import { countAttempts } from './rollouts.ts';
import type { CoreAttempt } from './schedule-store.ts';
import { isFailingTooOften, roomInWave } from './waves.ts';

const none = { waiting: 0, running: 0, succeeded: 0, rolledBack: 0, failed: 0 };

test.each([
  ['begins with one install', { ...none, waiting: 1000 }, 1],
  ['waits for the first install', { ...none, waiting: 999, running: 1 }, 0],
  ['goes on with 5 %', { ...none, waiting: 999, succeeded: 1 }, 50],
  ['waits for the second wave', { ...none, waiting: 949, running: 1, succeeded: 50 }, 0],
  ['ends with all others', { ...none, waiting: 949, succeeded: 51 }, 949],
  ['continues within the last wave', { ...none, waiting: 900, running: 40, succeeded: 60 }, 900],
  ['does two installs one after the other', { ...none, waiting: 1, running: 1 }, 0],
  ['stops after a rollback of the first', { ...none, waiting: 999, rolledBack: 1 }, 0],
  ['stops after a failure of the first', { ...none, waiting: 999, failed: 1 }, 0],
  [
    'counts failures and rollbacks together',
    { ...none, waiting: 9, succeeded: 97, rolledBack: 2, failed: 1 },
    0,
  ],
  ['stops above 2 %', { ...none, waiting: 900, succeeded: 97, rolledBack: 3 }, 0],
  ['goes on at 2 %', { ...none, waiting: 900, succeeded: 98, rolledBack: 2 }, 900],
  ['ends', { ...none, succeeded: 1000 }, 0],
])('a rollout %s', (_name, counts, room) => {
  expect(roomInWave(counts)).toBe(room);
});

test('nothing was rolled back before the first update', () => {
  expect(isFailingTooOften(none)).toBe(false);
});

test('a resumed rollout counts what ended since, and failures only after the host began', () => {
  const attempt = (
    status: CoreAttempt['status'],
    finished_at: string | null,
    begun_at: string | null = null,
  ) => ({
    ...{
      install_id: '',
      cause: 'schedule' as const,
      created_at: '2026-01-01',
      status,
      finished_at,
      begun_at,
    },
  });
  const attempts = [
    attempt('rolled_back', '2026-01-02'),
    attempt('rolled_back', '2026-01-04'),
    attempt('running', null),
    attempt('failed', '2026-01-04'),
    attempt('failed', '2026-01-04', '2026-01-04'),
  ];
  expect(countAttempts(attempts, { resumed_at: '2026-01-03' })).toEqual({
    ...{ running: 1, succeeded: 0, rolledBack: 1, failed: 1 },
  });
});
