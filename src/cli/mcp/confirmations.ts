import { createHash } from 'node:crypto';
import type { Clock } from '../../lib/clock.ts';
import { MINUTE_MS } from '../../lib/durations.ts';
import type { Randomness } from '../../lib/ids.ts';

const VALID_MS = 10 * MINUTE_MS;
const MOST = 100;

/** Confirmations of calls that cannot be undone. Each is for one call with the same arguments, once. */
export interface Confirmations {
  /** A confirmation that the next identical call may use. */
  issue(tool: string, input: object): string;
  /** Whether this is the confirmation of that call. It does not work again. */
  redeem(tool: string, input: object, confirmation: unknown): boolean;
}

export function createConfirmations(clock: Clock, random: Randomness): Confirmations {
  const open = new Map<string, { call: string; until: number }>();
  return {
    issue(tool, input) {
      const [oldest] = open.keys();
      if (open.size >= MOST && oldest !== undefined) open.delete(oldest);
      const confirmation = random.uuid();
      open.set(confirmation, { call: digest(tool, input), until: clock.now().getTime() + VALID_MS });
      return confirmation;
    },
    redeem(tool, input, confirmation) {
      const found = typeof confirmation === 'string' ? open.get(confirmation) : undefined;
      if (found === undefined || found.call !== digest(tool, input)) return false;
      open.delete(String(confirmation));
      return found.until > clock.now().getTime();
    },
  };
}

function digest(tool: string, input: object): string {
  const sorted = Object.entries(input).sort(([one], [other]) => (one < other ? -1 : 1));
  return createHash('sha256')
    .update(JSON.stringify([tool, sorted]))
    .digest('hex');
}
