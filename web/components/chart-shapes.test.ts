import { describe, expect, it } from 'vitest';
import { areaOf, barsOf, largestOf, lineOf } from './chart-shapes.ts';

describe('shapes of a chart', () => {
  it('have a scale even without values', () => {
    expect([largestOf([1, null, 4]), largestOf([null, 0]), largestOf([])]).toEqual([4, 1, 1]);
  });

  it('are bars for days with a value', () => {
    expect(barsOf([2, null, 0, 4], 4)).toEqual([
      { x: 0, height: 0.5 },
      { x: 3, height: 1 },
    ]);
  });

  it('are lines with gaps, short for a single day', () => {
    expect(lineOf([4, 2, null, 4], 4)).toBe('M0.5 0L1.5 0.5M3.15 0L3.85 0');
    expect(areaOf([4, 2], 4)).toBe('M0.5 1L0.5 0L1.5 0.5L1.5 1Z');
    expect([lineOf([], 1), lineOf([null], 1)]).toEqual(['', '']);
  });
});
