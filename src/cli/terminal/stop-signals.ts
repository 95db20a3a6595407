import type { EventEmitter } from 'node:events';
import { type Clock, systemClock } from '../../lib/clock.ts';

/** npm repeats a Ctrl-C that the terminal already sent, so signals this close are one key press. */
const SAME_PRESS_MS = 1_000;

/** Dependencies that tests replace. */
interface Surroundings {
  signals: Pick<EventEmitter, 'on'>;
  clock: Clock;
  endAtOnce(): void;
}

const PRESENT: Surroundings = { signals: process, clock: systemClock, endAtOnce: () => process.exit(1) };

/** Resolves at the first SIGINT or SIGTERM and prints `message`. One that follows a second later or more ends the process at once. */
export function stopSignal(
  message: string,
  { signals, clock, endAtOnce }: Surroundings = PRESENT,
): Promise<void> {
  return new Promise((resolve) => {
    let firstAt: number | null = null;
    const onSignal = (hint: string) => {
      const now = clock.now().getTime();
      if (firstAt === null) {
        firstAt = now;
        process.stderr.write(`homeport: ${message}${hint}\n`);
        resolve();
      } else if (now - firstAt >= SAME_PRESS_MS) endAtOnce();
    };
    // A service manager sends SIGTERM, and its log has no keys.
    signals
      .on('SIGINT', () => onSignal('; press Ctrl-C again to stop at once'))
      .on('SIGTERM', () => onSignal(''));
  });
}
