import { hash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { MOST_EXACT, openSketch } from './visitor-sketch.ts';

const hashOf = (visitor: number) => hash('sha256', `salt ${visitor}`, 'buffer');

function sketchOf(visitors: number, sketch = openSketch()) {
  for (let visitor = 0; visitor < visitors; visitor++) sketch.add(hashOf(visitor));
  return sketch;
}

describe('a sketch of visitors', () => {
  it.each([0, 1, 2, 500, MOST_EXACT])('counts %d visitors exactly', (visitors) => {
    expect(sketchOf(visitors).count()).toBe(visitors);
  });

  it.each([MOST_EXACT + 1, 5_000, 40_000, 100_000])('estimates %d visitors within 3 %%', (visitors) => {
    const count = sketchOf(visitors).count();
    expect(Math.abs(count - visitors) / visitors).toBeLessThan(0.03);
  });

  it.each([3, MOST_EXACT, MOST_EXACT + 1])(
    'counts each of %d visitors once, also after it was stored',
    (visitors) => {
      const stored = sketchOf(visitors).toBytes();
      const opened = openSketch(stored);
      expect(opened.add(hashOf(visitors - 1))).toBe(false);
      expect(sketchOf(visitors, opened).toBytes().equals(stored)).toBe(true);
    },
  );

  it('has a bounded size', () => {
    expect(sketchOf(50_000).toBytes()).toHaveLength(16_384);
  });

  it('rejects damaged bytes', () => {
    expect(() => openSketch(Buffer.alloc(7))).toThrow('7 bytes');
  });
});
