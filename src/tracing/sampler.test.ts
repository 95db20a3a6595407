import { expect, it } from 'vitest';
import { createSampler } from './sampler.ts';

const LOW = `4bf92f3577b34da6a3c${'1'.repeat(13)}`;
const HIGH = `4bf92f3577b34da6a3c${'e'.repeat(13)}`;

it.each([
  // Without a parent, with a sampled one, and with one that is not.
  ['always_on', 0, LOW, [true, true, true]],
  ['always_off', 1, LOW, [false, false, false]],
  ['traceidratio', 0.5, LOW, [false, false, false]],
  ['traceidratio', 0.5, HIGH, [true, true, true]],
  ['traceidratio', 1, `${'1'.repeat(19)}${'0'.repeat(13)}`, [true, true, true]],
  ['traceidratio', 0, `${'1'.repeat(19)}${'f'.repeat(13)}`, [false, false, false]],
  ['parentbased_always_on', 0, LOW, [true, true, false]],
  ['parentbased_always_off', 1, LOW, [false, true, false]],
  ['parentbased_traceidratio', 0.5, LOW, [false, true, false]],
  ['parentbased_traceidratio', 0.5, HIGH, [true, true, false]],
] as const)('%s with %d decides about %s', (name, ratio, traceId, expected) => {
  const isSampled = createSampler(name, ratio);
  const parents = [undefined, { isSampled: true }, { isSampled: false }];
  expect(parents.map((parent) => isSampled(traceId, parent))).toEqual(expected);
});
