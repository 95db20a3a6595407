import { setTimeout as pause } from 'node:timers/promises';
import { messageOf } from '../../../lib/error-message.ts';
import type { DaemonSpec } from '../machine/daemon.ts';

/** Enough for a busy machine with a slow disk; the host retries daemons that need longer. */
const READY_WITHIN_MS = 30_000;
const LONGEST_PAUSE_MS = 100;

/**
 * Polls a starting daemon until it answers. Null if it is ready. Otherwise the reason, phrased to follow the daemon's name: a
 * timeout, or the value of `ended`, which resolves if the daemon ends.
 */
export async function whyNotReady(spec: DaemonSpec, ended: Promise<string>): Promise<string | null> {
  const { readyWithinMs = READY_WITHIN_MS } = spec;
  let amiss = 'it does not answer';
  let ending: string | null = null;
  const end = ended.then((why) => {
    ending = why;
  });
  const deadline = new AbortController();
  const late = pause(readyWithinMs, 'late' as const, { signal: deadline.signal });
  late.catch(() => undefined);
  try {
    for (let wait = 5; ; wait = Math.min(wait * 2, LONGEST_PAUSE_MS)) {
      const asked = Promise.resolve().then(() => spec.ready());
      const answer = asked.then(
        () => 'ready' as const,
        (error: unknown) => {
          amiss = messageOf(error);
        },
      );
      const first = await Promise.race([answer, end, late]);
      if (ending !== null) return ending;
      if (first === 'ready') return null;
      if (first === 'late') return `is not ready after ${readyWithinMs} ms: ${amiss}`;
      await pause(wait);
    }
  } finally {
    deadline.abort();
  }
}
