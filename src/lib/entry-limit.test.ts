import { LRUCache } from 'lru-cache';
import { expect, it } from 'vitest';
import { entryLimit } from './entry-limit.ts';

it('keeps the entries that were used most recently', () => {
  const cache = new LRUCache<string, number>(entryLimit(2));
  cache.set('a', 1);
  cache.set('b', 2);
  cache.get('a');
  cache.set('c', 3);
  expect([...cache.keys()].sort()).toEqual(['a', 'c']);
});
