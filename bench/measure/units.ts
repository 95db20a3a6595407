/** Units of figures. A ratio has no unit. */
export const UNITS = ['ratio', 'ms', 'µs', '/s', 'MB', 'kB', 'count'] as const;
export type Unit = (typeof UNITS)[number];

/** Formats a value: `1,234 ms`, `0.82`. */
export function shown(value: number, unit: Unit): string {
  if (unit === 'ratio') return value.toFixed(2);
  if (unit === 'ms') return shownMs(value);
  if (unit === '/s') return shownRate(value);
  const rounded = Math.round(value).toLocaleString('en');
  return unit === 'count' ? rounded : `${rounded} ${unit}`;
}

export const shownMs = (ms: number): string =>
  ms < 10 ? `${ms.toFixed(1)} ms` : `${Math.round(ms).toLocaleString('en')} ms`;

export const shownRate = (perSecond: number): string =>
  `${perSecond < 1_000 ? perSecond.toFixed(1) : Math.round(perSecond).toLocaleString('en')}/s`;

/** Throws if there are no values. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)];
  const lower = sorted[Math.ceil(sorted.length / 2) - 1];
  if (upper === undefined || lower === undefined) throw new Error('nothing was measured');
  return (lower + upper) / 2;
}

/** Milliseconds that some work takes. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}
