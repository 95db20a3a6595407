import { expect, it } from 'vitest';
import { HOUR_MS } from '../../lib/durations.ts';
import { backupTime, nightOf } from './nightly-time.ts';

it.each([
  ['2026-03-05T01:00:00.000Z', '2026-03-05T01:00:00.000Z'],
  ['2026-03-05T00:59:59.999Z', '2026-03-04T01:00:00.000Z'],
  ['2026-03-05T23:00:00.000Z', '2026-03-05T01:00:00.000Z'],
  ['2026-01-01T00:00:00.000Z', '2025-12-31T01:00:00.000Z'],
])('the night of %s began at %s', (now, night) => {
  expect(nightOf(new Date(now)).toISOString()).toBe(night);
});

it('spreads installs over four hours, each at the same time every night', () => {
  const night = new Date('2026-03-05T01:00:00.000Z');
  const at = (id: string) => new Date(backupTime(id, night)).toISOString();
  expect(at('00000000-0000-4000-8000-000000000000')).toBe('2026-03-05T01:00:00.000Z');
  expect(at('80000000-0000-4000-8000-000000000000')).toBe('2026-03-05T03:00:00.000Z');
  expect(at('ffffffff-0000-4000-8000-000000000000')).toMatch(/^2026-03-05T04:59:59/);
  const quarters = [0, 0, 0, 0];
  for (let i = 0; i < 2_000; i++) {
    const quarter = Math.floor((backupTime(crypto.randomUUID(), night) - night.getTime()) / HOUR_MS);
    quarters[quarter] = (quarters[quarter] ?? 0) + 1;
  }
  for (const count of quarters) expect(count).toBeGreaterThan(350);
});
