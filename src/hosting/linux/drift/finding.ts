import { messageOf } from '../../../lib/error-message.ts';
import type { Difference } from '../../contract/host.ts';
import type { DaemonStatus } from '../machine/daemon.ts';

/** A problem with a thing, and its repair. */
export interface Fault {
  /** One sentence. */
  message: string;
  /** Null if the host must not repair it. */
  repair: (() => Promise<void>) | null;
  /** Advice for the operator if the host cannot repair it. */
  remedy: string;
}

/** A fault with the thing that it concerns. */
export interface Finding extends Fault {
  thing: string;
}

export const READ_THE_LOG = 'See the end of its output in the log of "homeport host".';

/** The faults that `check` finds. A failure of the check itself is a finding too, so that the other checks go on. */
export async function checked(thing: string, check: () => Promise<Fault[]>): Promise<Finding[]> {
  try {
    return (await check()).map((fault) => ({ thing, ...fault }));
  } catch (error) {
    return [checkFailed(thing, error)];
  }
}

export function checkFailed(thing: string, error: unknown): Finding {
  const message = `It could not be checked: ${messageOf(error)}`;
  return { thing, message, repair: null, remedy: READ_THE_LOG };
}

/** Faults with the same repair. Null messages are no faults. */
export function faults(messages: (string | null)[], repair: () => Promise<void>): Fault[] {
  return messages
    .filter((message) => message !== null)
    .map((message) => ({ message, repair, remedy: READ_THE_LOG }));
}

export function notRunning(daemons: DaemonStatus[], name: string, repair: () => Promise<void>): Fault[] {
  const state = daemons.find((status) => status.name === name)?.state;
  if (state === 'running') return [];
  return faults([state === undefined ? 'It was never started.' : `It is not running (${state}).`], repair);
}

/** Reports the findings as differences. With `isRepairing`, repairs them in order where possible. */
export async function toDifferences(findings: Finding[], isRepairing: boolean): Promise<Difference[]> {
  const differences: Difference[] = [];
  for (const { thing, message, repair, remedy } of findings) {
    if (!isRepairing || repair === null) {
      const offered = repair === null ? remedy : '"homeport doctor --host --repair" repairs it.';
      differences.push({ thing, message, mended: isRepairing ? false : null, remedy: offered });
      continue;
    }
    try {
      await repair();
      differences.push({ thing, message, mended: true, remedy: null });
    } catch (error) {
      const failed = `${message} The repair failed: ${messageOf(error)}`;
      differences.push({ thing, message: failed, mended: false, remedy });
    }
  }
  return differences;
}
