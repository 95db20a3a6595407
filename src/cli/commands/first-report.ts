import type { Clock } from '../../lib/clock.ts';

const LOOK_EVERY_MS = 200;
/** A server asks its hosts when it starts, which takes a moment, or 5 s if another host is slow. */
const PATIENCE_MS = 10_000;

/**
 * Waits until a host has reported what `find` looks for, because a server that has just started may not have asked it yet. Null if it has
 * not within 10 s.
 */
export async function untilReported<Found>(
  find: () => Promise<Found | null>,
  { clock, sleep }: { clock: Clock; sleep(ms: number): Promise<void> },
): Promise<Found | null> {
  const giveUpAt = clock.now().getTime() + PATIENCE_MS;
  for (;;) {
    const found = await find();
    if (found !== null || clock.now().getTime() >= giveUpAt) return found;
    await sleep(LOOK_EVERY_MS);
  }
}
