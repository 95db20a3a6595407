import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createSerial } from '../../../lib/serial.ts';
import { withinTurn } from './turn.ts';

const serial = createSerial();
const turnOf = (key: string) => (work: () => Promise<void>) => serial(key, work);

test('work that gets its turn in time is done, however long it takes', async () => {
  const earlier = serial('one', () => pause(20));
  const result = withinTurn(turnOf('one'), 20_000, async () => {
    await pause(50);
    return 'done';
  });
  expect(await result).toBe('done');
  await earlier;
  const slow = withinTurn(turnOf('one'), 20, () => pause(60, 'done too'));
  expect(await slow).toBe('done too');
});

test('work that does not is never begun', async () => {
  let begun = false;
  const earlier = serial('two', () => pause(80));
  const result = await withinTurn(turnOf('two'), 20, async () => {
    begun = true;
  });
  expect(result).toBeNull();
  await earlier;
  await serial('two', async () => {});
  expect(begun).toBe(false);
});

test('its failure is the caller’s to hear of', async () => {
  await expect(withinTurn(turnOf('three'), 20, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
});
