import { pino } from 'pino';
import { expect, it } from 'vitest';
import { manualClock } from '../../../../test/manual-clock.ts';
import { HOUR_MS, MINUTE_MS } from '../../../lib/durations.ts';
import type { InstallLimits } from '../../contract/install-limits.ts';
import { createMeasuredQuotas, FULL_WRITE_BYTES } from './measured-quotas.ts';

const LIMITS: InstallLimits = { bytes: 1_000_000, files: 100 };

function websites(sizes: Record<string, { bytes: number; files: number }>, limits = LIMITS) {
  const clock = manualClock();
  const measured: string[] = [];
  const limited: [number, number | null][] = [];
  const busy = new Set<string>();
  const searches = { count: 0 };
  const quotas = createMeasuredQuotas({
    limits,
    installs: () => Object.keys(sizes).map((id, index) => ({ id, name: id, uid: index + 1, gid: index + 1 })),
    async measure({ id }) {
      measured.push(id);
      clock.advance(10);
      const size = sizes[id];
      if (size === undefined) throw new Error('it is gone');
      return size;
    },
    async findSandboxed() {
      searches.count += 1;
      return { limitWrites: async ({ uid }, bytes) => void limited.push([uid, bytes]) };
    },
    whileIdle: async (id, work) => (busy.has(id) ? undefined : work()),
    clock,
    log: pino({ level: 'silent' }),
  });
  /** The websites that were measured and limited in this time. */
  async function after(ms: number, checks = 3) {
    clock.advance(ms);
    for (let check = 0; check < checks; check += 1) await quotas.check();
    return { measured: measured.splice(0), limited: limited.splice(0) };
  }
  return { quotas, after, sizes, busy, searches };
}

it('a website over a limit is full until it is smaller, and is measured each minute', async () => {
  const { quotas, after, sizes } = websites({
    shop: { bytes: 1_200_000, files: 5 },
    blog: { bytes: 1, files: 1 },
  });
  // The second limit is one that an earlier process of the host can have left.
  expect(await after(0)).toEqual({
    measured: ['shop', 'blog'],
    limited: [
      [1, FULL_WRITE_BYTES],
      [2, null],
    ],
  });
  expect([quotas.isFull('shop'), quotas.isFull('blog')]).toEqual([true, false]);
  // New processes are limited, too.
  expect(await after(MINUTE_MS)).toEqual({ measured: ['shop'], limited: [[1, FULL_WRITE_BYTES]] });
  sizes.shop = { bytes: 900, files: 5 };
  expect((await after(MINUTE_MS)).limited).toContainEqual([1, null]);
  expect(quotas.isFull('shop')).toBe(false);
  expect(await after(HOUR_MS)).toEqual({ measured: [], limited: [] });
  expect((await after(5 * HOUR_MS)).measured).toEqual(['shop', 'blog']);
});

it('the number of files counts, and fuller websites are measured first and more often', async () => {
  const { quotas, after } = websites({
    half: { bytes: 600_000, files: 1 },
    near: { bytes: 850_000, files: 1 },
    many: { bytes: 1, files: 101 },
  });
  await after(0);
  expect(quotas.isFull('many')).toBe(true);
  expect((await after(10 * MINUTE_MS)).measured).toEqual(['many', 'near']);
  expect((await after(HOUR_MS)).measured).toEqual(['many', 'near', 'half']);
});

it('the processes of all full websites are searched once', async () => {
  const full = { bytes: 1_200_000, files: 1 };
  const { after, searches } = websites({ a: full, b: full, c: full });
  await after(0);
  searches.count = 0;
  expect((await after(MINUTE_MS / 2, 1)).limited).toHaveLength(3);
  expect(searches.count).toBe(1);
});

it.each([
  [{ bytes: null, files: 100 }, ['many']],
  [{ bytes: 1_000_000, files: null }, ['large']],
  [{ bytes: null, files: null }, []],
])('websites are full by the limits that there are: %j', async (limits, full) => {
  const { quotas, after } = websites(
    { large: { bytes: 1_200_000, files: 1 }, many: { bytes: 1, files: 101 } },
    limits,
  );
  const { measured } = await after(0);
  expect(measured.toSorted()).toEqual(full.length === 0 ? [] : ['large', 'many']);
  expect(['large', 'many'].filter(quotas.isFull)).toEqual(full);
});

it('full websites leave turns to the others', async () => {
  const full = { bytes: 1_200_000, files: 1 };
  const others = { old: { bytes: 1, files: 1 }, new: { bytes: 900_000, files: 1 } };
  const { after } = websites({ a: full, b: full, c: full, ...others });
  await after(0);
  // Two turns a minute are too few for the full ones alone.
  const seen = new Set<string>();
  for (let minute = 0; minute < 5; minute += 1) {
    for (const id of (await after(MINUTE_MS, 2)).measured) seen.add(id);
  }
  expect([...seen].sort()).toEqual(['a', 'b', 'c', 'new', 'old']);
});

it('a restore in progress can write, and a failed measurement does not stop the others', async () => {
  const { after, busy, sizes } = websites({ shop: { bytes: 2_000_000, files: 1 } });
  busy.add('shop');
  expect((await after(0)).limited).toEqual([]);
  busy.delete('shop');
  expect((await after(MINUTE_MS)).limited).toEqual([[1, FULL_WRITE_BYTES]]);
  delete sizes.shop;
  expect(await after(HOUR_MS)).toEqual({ measured: [], limited: [] });
});
