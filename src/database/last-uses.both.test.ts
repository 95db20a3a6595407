import { afterAll, beforeAll, expect, it } from 'vitest';
import { openTestDatabase } from '../../test/database.ts';
import { createLastUses, minuteOf } from './last-uses.ts';

let database: Awaited<ReturnType<typeof openTestDatabase>>;
beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.remove());

it('a use is recorded to the minute', () => {
  expect(minuteOf(new Date('2026-01-01T12:34:56.789Z'))).toBe('2026-01-01T12:34:00.000Z');
});

it('the latest use is written once, and again with the next batch after a failure', async () => {
  let fault: Error | null = new Error('the disk is full');
  const written: string[][] = [];
  const uses = createLastUses(
    database,
    async (_, id, minute) => {
      if (fault !== null) throw fault;
      written.push([id, minute]);
    },
    () => {},
  );
  uses.note('one', '12:00');
  uses.note('two', '12:00');
  uses.note('one', '12:01');
  await expect(uses.flush()).rejects.toThrow('the disk is full');
  expect([uses.of('one'), uses.of('two'), uses.of('three')]).toEqual(['12:01', '12:00', undefined]);
  fault = null;
  await uses.flush();
  expect(written).toEqual([
    ['one', '12:01'],
    ['two', '12:00'],
  ]);
  expect(uses.of('one')).toBeUndefined();
  await uses.flush();
  expect(written).toHaveLength(2);
});
