import { expect, test } from 'vitest';
import { manualClock } from '../../../../test/manual-clock.ts';
import { CACHE_TTL_MS } from '../host-folder/generations.ts';
import { createCaches } from './caches.ts';

const version = {
  etag: '"x"',
  modified: new Date(0),
  modifiedText: new Date(0).toUTCString(),
  size: 1000,
  type: 'text/html',
  compressed: false,
};

test('a cache never exceeds its byte limit and evicts the least recently used entry', () => {
  const caches = createCaches(manualClock(), { object: 100_000, page: 50_000, cdn: 50_000, file: 10_000 });
  for (let index = 0; index < 1000; index++) {
    caches.object.set(`id/1/${index}`, { kind: 'missing' });
    caches.page.set(`id/1/${index}`, { version, bytes: Buffer.alloc(1000) });
    caches.page.get('id/1/0');
  }
  expect(caches.object.calculatedSize).toBeLessThanOrEqual(100_000);
  expect(caches.page.calculatedSize).toBeLessThanOrEqual(50_000);
  expect(caches.page.size).toBeGreaterThan(20);
  expect(caches.page.get('id/1/0')).toBeDefined();
  expect(caches.page.get('id/1/1')).toBeUndefined();
});

test('entries expire by the given clock', () => {
  const clock = manualClock();
  const caches = createCaches(clock, { object: 100_000, page: 50_000, cdn: 50_000, file: 10_000 });
  caches.cdn.set('a', { version, bytes: Buffer.alloc(1) });
  clock.advance(CACHE_TTL_MS);
  expect(caches.cdn.get('a')).toBeDefined();
  clock.advance(1);
  expect(caches.cdn.get('a')).toBeUndefined();
});
