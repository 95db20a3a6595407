import { expect, test } from 'vitest';
import { descriptorLimit } from './descriptor-limit.ts';
import { SERVERS, socketLimits } from './socket-limits.ts';
import { startupLimits } from './startups.ts';

test.each([256, 1_024, 4_096, 65_536, Number.MAX_SAFE_INTEGER])(
  'half of %d descriptors stay free for files, and no address block gets all of a server',
  (descriptors) => {
    const limits = socketLimits(descriptors);
    const totals = SERVERS.map((server) => limits[server].total);
    expect(totals.reduce((sum, total) => sum + total)).toBeLessThanOrEqual(descriptors / 2);
    for (const server of SERVERS) expect(limits[server].perBlock).toBeLessThan(limits[server].total / 2);
  },
);

test('four silent addresses do not reach the number of SSH clients at which random refusals begin', () => {
  for (const connections of [128, 256]) {
    const { start, full, perBlock } = startupLimits(connections);
    expect(4 * perBlock).toBeLessThan(start);
    expect(full).toBeLessThanOrEqual(connections / 2);
  }
});

test('reads the descriptor limit of a process', () => {
  expect(descriptorLimit()).toBeGreaterThanOrEqual(256);
  expect(descriptorLimit(process.pid)).toBe(descriptorLimit());
});
