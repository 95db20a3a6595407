import { constants } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import { hasCode } from '../../../lib/error-code.ts';
import type { Cgroups } from './cgroups.ts';
import { type ProcessRecord, type ProcessRecords, startTimeOf } from './process-records.ts';

/** Ends daemons left by a killed host process: gracefully first, then by force with all their children. */
export async function endLeftovers(records: ProcessRecords, cgroups: Cgroups, log: Logger): Promise<void> {
  const leftovers = await records.all();
  await Promise.all(
    leftovers.map(async ({ name, record }) => {
      if (await isAlive(record))
        log.warn({ daemon: name, pid: record.pid }, 'ending a daemon left by an earlier host process');
      await endOne(record);
      await cgroups.remove(name);
      await records.remove(name);
    }),
  );
}

async function endOne(record: ProcessRecord): Promise<void> {
  const { pid, stopSignal, stopWithinMs } = record;
  if (pid === null || !(await isAlive(record))) return;
  sendSignal(pid, isSignal(stopSignal) ? stopSignal : 'SIGTERM');
  for (let waited = 0; waited < stopWithinMs && (await isAlive(record)); waited += 20) await pause(20);
  // While a member of the group lives, its number is not reused.
  if (await isAlive(record)) sendSignal(-pid, 'SIGKILL');
  while (await isAlive(record)) await pause(5);
}

async function isAlive({ pid, startTime }: ProcessRecord): Promise<boolean> {
  return pid !== null && startTime !== null && (await startTimeOf(pid)) === startTime;
}

function isSignal(name: string): name is NodeJS.Signals {
  return name in constants.signals;
}

/** Signals a process, or a process group by its negative number. False if it is gone. */
export function sendSignal(pid: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch (error) {
    if (hasCode(error, 'ESRCH')) return false;
    throw error;
  }
}
