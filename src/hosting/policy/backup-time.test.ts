import { once } from 'node:events';
import { expect, it } from 'vitest';
import { MINUTE_MS } from '../../lib/durations.ts';
import { backupTimeMs, withinBackupTime } from './backup-time.ts';

it('grows with the size of the website', () => {
  expect(backupTimeMs(0)).toBe(10 * MINUTE_MS);
  expect(backupTimeMs(6_000 * 1024 ** 2)).toBe(20 * MINUTE_MS);
});

it('ends the work, and the error names the limit', async () => {
  const work = async (signal: AbortSignal) => {
    await once(signal, 'abort');
    throw signal.reason;
  };
  await expect(withinBackupTime(5, undefined, work)).rejects.toThrow(
    'The backup took longer than 1 min, the limit for its size.',
  );
});

it('passes on what the work gives, and the signal of the caller', async () => {
  const reason = new Error('the worker stops');
  expect(await withinBackupTime(MINUTE_MS, undefined, async () => 7)).toBe(7);
  const work = async (signal: AbortSignal) => signal.throwIfAborted();
  await expect(withinBackupTime(MINUTE_MS, AbortSignal.abort(reason), work)).rejects.toBe(reason);
});
