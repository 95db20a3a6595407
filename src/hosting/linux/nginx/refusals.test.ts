import { expect, test } from 'vitest';
import { findRefused } from './refusals.ts';
import type { RenderedVhost } from './render-vhost.ts';

const vhosts = Array.from(
  { length: 9 },
  (_, i): RenderedVhost => ({ id: `id${i}`, revision: `r${i}`, text: '' }),
);

/** A nginx that refuses some; it names the file or it does not. */
function refusing(bad: string[], naming: boolean) {
  const asked: string[][] = [];
  const test = (some: RenderedVhost[]): Promise<string | null> => {
    asked.push(some.map(({ id }) => id));
    const found = some.find(({ id }) => bad.includes(id));
    if (found === undefined) return Promise.resolve(null);
    return Promise.resolve(naming ? `oops in /vhosts/${found.id}-${found.revision}.conf:3` : 'oops');
  };
  return { test, asked };
}

test.each([true, false])(
  'those that are refused are found, and no others (the file is named: %s)',
  async (naming) => {
    for (const bad of [[], ['id0'], ['id8'], ['id3', 'id4', 'id7'], vhosts.map(({ id }) => id)]) {
      const { test: nginx } = refusing(bad, naming);
      const refused = await findRefused(vhosts, nginx);
      expect([...refused.keys()].toSorted()).toEqual(bad.toSorted());
      for (const why of refused.values()) expect(why).toContain('oops');
    }
  },
);

test('where the file is named, one more look is enough', async () => {
  const { test: nginx, asked } = refusing(['id5'], true);
  await findRefused(vhosts, nginx);
  expect(asked.length).toBe(2);
});

test('halves are enough for one among many', async () => {
  const { test: nginx, asked } = refusing(['id5'], false);
  await findRefused(vhosts, nginx);
  expect(asked.length).toBeLessThanOrEqual(9);
});

test('a fault of the main file is attributed to no website', async () => {
  expect((await findRefused([], () => Promise.resolve('no such directive'))).size).toBe(0);
});
