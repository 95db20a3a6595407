import { expect, it } from 'vitest';
import { Objection } from '../../api/failure.ts';
import { askForEach } from './ask-for-each.ts';

const installs = Array.from({ length: 9 }, (_, index) => ({ id: String(index), name: `install${index}` }));

it('asks for each a few at a time, for the others where one is refused, and says which were', async () => {
  let running = 0;
  let most = 0;
  const told: number[] = [];
  const left = await askForEach(
    installs,
    async ({ id }) => {
      running += 1;
      most = Math.max(most, running);
      await Promise.resolve();
      running -= 1;
      if (id === '7' || id === '2') throw new Objection('Not now.');
    },
    (count) => told.push(count),
  );
  expect(most).toBe(4);
  expect(told).toEqual(installs.map((_, index) => index + 1));
  expect(left).toEqual([
    { id: '2', name: 'install2', sentence: 'Not now.' },
    { id: '7', name: 'install7', sentence: 'Not now.' },
  ]);
});
