import { setTimeout as pause } from 'node:timers/promises';
import { messageOf } from '../../../lib/error-message.ts';
import type { DaemonSpec } from '../machine/daemon.ts';

/** A busy machine with a slow disk may need as long; the host retries those that need longer. */
const READY_WITHIN_MS = 30_000;
const LONGEST_PAUSE_MS = 100;

/**
 * Asks a daemon that was just started until it answers. Gives null when it is ready, and otherwise what is amiss, to stand
 * behind its name: that it is not ready in time, or what `ended` gives, which settles if it ends before.
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
      const answer = spec.ready().then(
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
