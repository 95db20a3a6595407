import { expect, test } from 'vitest';
import { manualClock } from '../../../../test/manual-clock.ts';
import { createPagePurges } from './page-purges.ts';
import type { Pages } from './purge-message.ts';

const clock = manualClock(new Date('2026-05-04T03:02:01.000Z'));
const purged: Pages[] = [];
const purges = createPagePurges({
  web: {
    purge: async () => void purged.push('everything'),
    purgePages: async (_id, paths) => void purged.push(paths),
  },
  clock,
});

const many = (count: number, prefix: string) => Array.from({ length: count }, (_, n) => `/${prefix}${n}`);

async function purge(pages: Pages, id = 'shop'): Promise<Pages | undefined> {
  await purges.purge(id, pages);
  return purged.at(-1);
}

test('purges everything of an install beyond its budget of paths, which grows again', async () => {
  expect(await purge('everything')).toBe('everything');
  expect(await purge(many(900, 'a'))).toHaveLength(900);
  expect(await purge(many(200, 'b'))).toBe('everything');
  expect(await purge(many(1_000, 'a'), 'blog')).toHaveLength(1_000);
  expect(await purge(many(100, 'c'))).toHaveLength(100);
  expect(await purge(['/d'])).toBe('everything');
  clock.advance(15_000);
  expect(await purge(['/d', '/e'])).toEqual(['/d', '/e']);
  expect(await purge(['/f'])).toBe('everything');
  purges.forget('shop');
  expect(await purge(many(1_000, 'g'))).toHaveLength(1_000);
});
