import { pino } from 'pino';
import { expect, test } from 'vitest';
import { createShutdown } from './shutdown.ts';

/** A shutdown with the steps that ran and its log. */
function begin() {
  const lines: { step?: string; msg: string }[] = [];
  const shutdown = createShutdown(pino({ level: 'info' }, { write: (line) => lines.push(JSON.parse(line)) }));
  return { shutdown, lines, ran: [] as string[] };
}

test('steps run once, latest first', async () => {
  const { shutdown, lines, ran } = begin();
  for (const name of ['database', 'worker', 'API']) shutdown.add(name, () => void ran.push(name));
  expect(await shutdown.run(100)).toEqual([]);
  expect(await shutdown.run(100)).toEqual([]);
  expect(ran).toEqual(['API', 'worker', 'database']);
  expect(lines).toEqual([]);
});

test('a failing or hanging step stops no other, and the log names it', async () => {
  const { shutdown, lines, ran } = begin();
  shutdown.add('database', () => void ran.push('database'));
  shutdown.add('frozen', () => new Promise(() => {}));
  shutdown.add('flush', () => Promise.reject(new Error('the disk is full')));
  shutdown.add('thrown', () => {
    throw new Error('at once');
  });
  expect(await shutdown.run(0, 1_000)).toEqual(['thrown', 'flush', 'frozen']);
  expect(ran).toEqual(['database']);
  expect(lines.map(({ step }) => step)).toEqual(['thrown', 'flush', 'frozen']);
});

test('steps share the time for work in progress', async () => {
  const { shutdown } = begin();
  const graces: number[] = [];
  shutdown.add('second', (graceMs) => void graces.push(graceMs));
  shutdown.add('first', async (graceMs) => {
    graces.push(graceMs);
    await new Promise((resolve) => setTimeout(resolve, 20));
  });
  await shutdown.run(50_000);
  expect(graces[0]).toBeLessThanOrEqual(50_000);
  expect(graces[1]).toBeLessThan(graces[0] ?? 0);
});
