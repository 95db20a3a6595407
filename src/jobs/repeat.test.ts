import { expect, it } from 'vitest';
import { coalesce, repeat } from './repeat.ts';

it('calls that overlap share a run, and see everything that was so when they were made', async () => {
  const gates: (() => void)[] = [];
  const run = coalesce(() => new Promise<void>((resolve) => gates.push(resolve)));
  const first = run();
  const second = run();
  const third = run();
  expect(gates).toHaveLength(1);
  let secondDone = false;
  void second.then(() => {
    secondDone = true;
  });
  gates[0]?.();
  await first;
  await new Promise(setImmediate);
  expect(gates).toHaveLength(2);
  expect(secondDone).toBe(false);
  gates[1]?.();
  await Promise.all([second, third]);
  void run();
  expect(gates).toHaveLength(3);
});

it('repeats until it is stopped, and never overlaps', async () => {
  let runs = 0;
  let now = 0;
  const repetition = repeat(
    async () => {
      expect(++now).toBe(1);
      await new Promise(setImmediate);
      now--;
      runs++;
    },
    () => 1,
  );
  while (runs < 3) await new Promise((resolve) => setTimeout(resolve, 1));
  await repetition.stop();
  const after = runs;
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(runs).toBe(after);
});
