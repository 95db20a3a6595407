import { expect, test } from 'vitest';
import { createQuietLogs } from './quiet-logs.ts';

const SHOP = 'shop';

/** The rounds of the next `count` in which the log is looked at. `newIn`: those in which it has new messages. */
function roundsOf(count: number, newIn: readonly number[] = []): number[] {
  const logs = createQuietLogs();
  const rounds: number[] = [];
  for (let round = 0; round < count; round++) {
    if (logs.isDue(SHOP)) {
      rounds.push(round);
      logs.looked(SHOP, newIn.includes(round));
    }
    logs.nextRound(new Set([SHOP]));
  }
  return rounds;
}

test('a log with new messages is looked at in each round', () => {
  expect(roundsOf(4, [0, 1, 2, 3])).toEqual([0, 1, 2, 3]);
});

test('a quiet log waits longer each time, up to six rounds', () => {
  expect(roundsOf(26)).toEqual([0, 1, 3, 7, 13, 19, 25]);
});

test('new messages end the wait', () => {
  expect(roundsOf(17, [7])).toEqual([0, 1, 3, 7, 8, 9, 11, 15]);
});

test('10,000 quiet logs cost at most a sixth of a look in each round', () => {
  const logs = createQuietLogs();
  const ids = Array.from({ length: 10_000 }, (_, n) => `install-${n}`);
  let looks = 0;
  for (let round = 0; round < 60; round++) {
    for (const id of ids.filter(logs.isDue)) {
      if (round >= 30) looks++;
      logs.looked(id, false);
    }
    logs.nextRound(new Set(ids));
  }
  expect(looks).toBe((10_000 * 30) / 6);
});
