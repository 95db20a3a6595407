import { expect, it } from 'vitest';
import { MAY_TAKE_LONG } from '../../../lib/start-steps.ts';
import { createPatience } from './patience.ts';

const WORKING = { step: 'migrating', mayTakeLong: false, isAlive: true };
const RESTING = { ...WORKING, isAlive: false };
const LONG = { ...RESTING, mayTakeLong: true };

/** The reason after looks at seconds, with 100 s for a step. */
function reasonAfter(looks: readonly [second: number, sign: typeof WORKING][]): string | null {
  let now = 0;
  const patience = createPatience(100_000, () => now);
  let reason: string | null = null;
  for (const [second, sign] of looks) {
    now = second * 1_000;
    reason = patience(sign);
  }
  return reason;
}

it.each<[string, [number, typeof WORKING][], string | null]>([
  [
    'rests for a moment',
    [
      [0, RESTING],
      [24, RESTING],
    ],
    null,
  ],
  [
    'hangs',
    [
      [0, RESTING],
      [25, RESTING],
    ],
    'has shown no sign of life for 25 s',
  ],
  [
    'hangs after it has worked',
    [
      [0, WORKING],
      [40, WORKING],
      [65, RESTING],
    ],
    'has shown no sign of life for 25 s',
  ],
  [
    'works on a slow machine',
    [
      [0, WORKING],
      [99, WORKING],
    ],
    null,
  ],
  [
    'works in a loop',
    [
      [0, WORKING],
      [100, WORKING],
    ],
    'has made no progress for 100 s',
  ],
  [
    'goes from step to step',
    [
      [0, WORKING],
      [90, { ...WORKING, step: 'websites' }],
      [180, { ...WORKING, step: 'API' }],
    ],
    null,
  ],
  [
    'migrates a large database',
    [
      [0, LONG],
      [999, LONG],
    ],
    null,
  ],
  [
    'has migrated a large database',
    [
      [0, LONG],
      [900, LONG],
      [901, { ...RESTING, step: 'API' }],
    ],
    null,
  ],
  [
    'never ends its migration',
    [
      [0, LONG],
      [1_000, LONG],
    ],
    'is not ready after 1000 s',
  ],
])('of a version that %s', (_case, looks, reason) => {
  expect(reasonAfter(looks)).toBe(reason);
});

it('knows a long step by words that former versions read', () => {
  expect(MAY_TAKE_LONG).toBe('(may take long)');
});
