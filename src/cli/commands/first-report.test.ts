import { expect, test } from 'vitest';
import { manualClock } from '../../../test/manual-clock.ts';
import { untilReported } from './first-report.ts';

function waiting() {
  const clock = manualClock();
  return { clock, sleep: async (ms: number) => clock.advance(ms) };
}

test('waits for a host that has not reported yet', async () => {
  const answers = [null, null, 'http://shop.test/'];
  expect(await untilReported(async () => answers.shift() ?? null, waiting())).toBe('http://shop.test/');
});

test('asks once if the host has reported, and gives up on one that does not', async () => {
  let asked = 0;
  const find = (answer: string | null) => async () => {
    asked += 1;
    return answer;
  };
  expect(await untilReported(find('known'), waiting())).toBe('known');
  expect(asked).toBe(1);
  expect(await untilReported(find(null), waiting())).toBeNull();
});
