import { Value } from 'typebox/value';
import { expect, it } from 'vitest';
import { silent } from '../../test/database.ts';
import { type HostFigures, HostFiguresSchema } from '../hosting/contract/figures.ts';
import { createEdgeCounts } from '../hosting/policy/usage/edge-counts.ts';
import { createHostFigures } from './host-figures.ts';

function figures(): HostFigures {
  const counts = createEdgeCounts();
  counts.add({ status: 101, bytes: 1, isHit: null });
  counts.add({ status: 204, bytes: 2, isHit: true });
  counts.add({ status: 404, bytes: 3, isHit: false });
  counts.add({ status: 599, bytes: 4, isHit: null });
  counts.add({ status: 0, bytes: 5, isHit: null });
  return { edge: counts.figures(), php: null, lateCron: 0 };
}

it('leaves out hosts that fail or are slow, and asks a slow host once', async () => {
  let asked = 0;
  const read = createHostFigures(
    async () => [
      { host: 'well', source: { readFigures: async () => figures() } },
      { host: 'old', source: { readFigures: async () => Promise.reject(new Error('does not understand')) } },
      {
        host: 'slow',
        source: {
          readFigures() {
            asked += 1;
            return new Promise(() => {});
          },
        },
      },
    ],
    silent,
    10,
  );
  const found = await read();
  await read();
  expect(asked).toBe(1);
  expect([...found.keys()]).toEqual(['well']);
  expect(found.get('well')?.edge).toEqual({
    answers: { '2xx': 2, '3xx': 0, '4xx': 1, '5xx': 1, none: 1 },
    bytes: 15,
    cacheRequests: 2,
    cacheHits: 1,
  });
});

it('leaves out all hosts if it cannot be known which ones answer', async () => {
  const gone = createHostFigures(async () => Promise.reject(new Error('gone')), silent, 10);
  expect(await gone()).toEqual(new Map());
  const slow = createHostFigures(() => new Promise(() => {}), silent, 10);
  expect(await slow()).toEqual(new Map());
});

it('takes counts of years, and nothing that is no count', () => {
  const present = figures();
  const sent = (bytes: number) => ({ ...present, edge: { ...present.edge, bytes } });
  // 10 Gbit/s for 20 days.
  expect(Value.Check(HostFiguresSchema, sent(2.16e15))).toBe(true);
  for (const wrong of [-1, 0.5, 1e300, Number.NaN])
    expect(Value.Check(HostFiguresSchema, sent(wrong))).toBe(false);
});
