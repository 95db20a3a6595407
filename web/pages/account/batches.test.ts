import { expect, it } from 'vitest';
import { ApiFailure, Unreachable } from '../../api/failure.ts';
import { AT_ONCE, inBatches, type Named } from './batches.ts';

const installs = (count: number) =>
  Array.from({ length: count }, (_, number) => ({ id: `id${number}`, name: `site${number}` }));
const many = installs(2 * AT_ONCE + 100);

it("sends batches of the server's limit and collects the results", async () => {
  const sizes: number[] = [];
  const results = await inBatches(many, async (slice) => {
    sizes.push(slice.length);
    return slice.slice(0, 1).map((one) => ({ ...one, refusal: 'No.' }));
  });
  expect(sizes).toEqual([AT_ONCE, AT_ONCE, 100]);
  expect(results.map(({ id }) => id)).toEqual(['id0', `id${AT_ONCE}`, `id${2 * AT_ONCE}`]);
});

it('counts a failed request as a refusal of its installs and continues', async () => {
  let requests = 0;
  const results = await inBatches(many, async () => {
    requests += 1;
    if (requests === 2) throw new Unreachable('connection reset');
    return [];
  });
  expect(requests).toBe(3);
  expect(results).toEqual(
    many
      .slice(AT_ONCE, 2 * AT_ONCE)
      .map((one) => ({ ...one, refusal: expect.stringContaining('cannot be reached') })),
  );
});

it('fails if no request succeeds', async () => {
  const failure = new ApiFailure(new Response(null, { status: 401 }), { message: 'Authentication required' });
  const ask = async (_: readonly Named[]) => {
    throw failure;
  };
  await expect(inBatches(many, ask)).rejects.toBe(failure);
  await expect(inBatches(installs(1), ask)).rejects.toBe(failure);
});
