import { messageOf } from '../../../lib/error-message.ts';
import type { Difference } from '../../contract/host.ts';

/** What is wrong with a thing, and what would mend it. */
export interface Fault {
  /** One sentence. */
  message: string;
  /** Null where that is not the host's to do. */
  mend: (() => Promise<void>) | null;
  /** What to do where the host does not, or could not. */
  remedy: string;
}

/** A fault, and of which thing. */
export interface Finding extends Fault {
  thing: string;
}

export const LOOK_AT_THE_LOG = 'Look at the log of "homeport host", which has the end of what it wrote.';

/** What `check` finds about a thing. That it cannot be looked at is found as well, and keeps nothing else from being looked at. */
export async function checked(thing: string, check: () => Promise<Fault[]>): Promise<Finding[]> {
  try {
    return (await check()).map((fault) => ({ thing, ...fault }));
  } catch (error) {
    return [notLookedAt(thing, error)];
  }
}

export function notLookedAt(thing: string, error: unknown): Finding {
  const message = `It could not be looked at: ${messageOf(error)}`;
  return { thing, message, mend: null, remedy: LOOK_AT_THE_LOG };
}

/** Mends one after the other what can be mended, if that is asked for. */
export async function mended(findings: Finding[], repair: boolean): Promise<Difference[]> {
  const differences: Difference[] = [];
  for (const { thing, message, mend, remedy } of findings) {
    if (!repair || mend === null) {
      const offered = mend === null ? remedy : '"homeport doctor --host --repair" mends it.';
      differences.push({ thing, message, mended: repair ? false : null, remedy: offered });
      continue;
    }
    try {
      await mend();
      differences.push({ thing, message, mended: true, remedy: null });
    } catch (error) {
      const failed = `${message} Mending it failed: ${messageOf(error)}`;
      differences.push({ thing, message: failed, mended: false, remedy });
    }
  }
  return differences;
}
