import type { Clock } from '../../lib/clock.ts';

interface Output {
  isTTY?: boolean;
  write(text: string): unknown;
}

const CLEAR_LINE = '\r\u001b[2K';
const REPEAT_AFTER_MS = 30_000;

/** Shows progress: one changing line on a terminal, elsewhere a line every half minute. */
export function createLineProgress(
  what: string,
  output: Output,
  clock: Clock,
): { report(state: string): void; end(): void } {
  let lastAt = clock.now().getTime();
  return {
    report(state) {
      const now = clock.now().getTime();
      if (output.isTTY) output.write(`${CLEAR_LINE}${what}: ${state}`);
      else if (now - lastAt >= REPEAT_AFTER_MS) {
        output.write(`${what}: ${state}\n`);
        lastAt = now;
      }
    },
    end() {
      if (output.isTTY) output.write(CLEAR_LINE);
    },
  };
}
