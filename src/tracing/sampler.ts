import type { Sampler } from '../config/settings/tracing.ts';

/** Hexadecimal digits that a number represents exactly. */
const DIGITS = 13;

/**
 * Decides whether a span is recorded. The ratio compares the end of the trace's id with a threshold, as the standard says, so all
 * processes decide alike.
 */
export function createSampler(
  name: Sampler,
  ratio: number,
): (traceId: string, parent: { isSampled: boolean } | undefined) => boolean {
  const isChosen = (traceId: string) => {
    if (name.endsWith('always_on')) return true;
    if (name.endsWith('always_off')) return false;
    return Number.parseInt(traceId.slice(-DIGITS), 16) / 16 ** DIGITS >= 1 - ratio;
  };
  if (!name.startsWith('parentbased_')) return isChosen;
  return (traceId, parent) => parent?.isSampled ?? isChosen(traceId);
}
