/** What a service shows that is not ready yet. */
export interface Sign {
  /** Its start, and what it has announced. */
  step: string;
  /** Whether it has announced that this can take long without a sign of life. */
  mayTakeLong: boolean;
  /** Whether it works, or answers requests. */
  isAlive: boolean;
}

/** Shares of the time that a step may take. */
const MOST_IDLE = 1 / 4;
const MOST_IN_ALL = 10;

/**
 * Decides when to give up a service that starts. Visitors wait meanwhile, so one that rests in the middle of a step gets a quarter of the time. A
 * large migration must not be given up. Returns a function that takes each look at the service, and returns the reason to give it up, or null.
 * `stepMs`: the longest time of a step.
 */
export function createPatience(stepMs: number, now: () => number): (sign: Sign) => string | null {
  const began = now();
  let step: string | undefined;
  let stepSince = began;
  let aliveAt = began;
  return (sign) => {
    const at = now();
    if (sign.step !== step) [step, stepSince, aliveAt] = [sign.step, at, at];
    if (sign.isAlive) aliveAt = at;
    if (at - began >= stepMs * MOST_IN_ALL) return `is not ready after ${seconds(at - began)}`;
    if (sign.mayTakeLong) return null;
    if (at - aliveAt >= stepMs * MOST_IDLE) return `has shown no sign of life for ${seconds(at - aliveAt)}`;
    return at - stepSince >= stepMs ? `has made no progress for ${seconds(at - stepSince)}` : null;
  };
}

const seconds = (ms: number) => `${Math.round(ms / 1000)} s`;
