import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** A process that runs PHP. */
export interface PhpProcess {
  id: number;
  /** Processor time so far, to 10 ms. */
  cpuMs: number;
  megabytes: number;
}

const LOOK_MS = 2_000;
/** Processor time of a process that only waits, between two looks. */
const CALM_MS = 30;

/** Lists the processes below `ancestor` that run PHP, without those around them. Linux only. */
export function phpProcesses(ancestor: number): PhpProcess[] {
  return descendants(ancestor).flatMap((id) => {
    try {
      const words = readFileSync(`/proc/${id}/cmdline`, 'utf8').split('\0');
      if (!words.some((word) => word.endsWith('/process/main.mjs')) || words.includes('--clearenv'))
        return [];
      const memory = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${id}/status`, 'utf8'))?.[1];
      return [{ id, cpuMs: cpuMsOf(id), megabytes: Math.round(Number(memory) / 1024) }];
    } catch {
      // It has ended meanwhile.
      return [];
    }
  });
}

/** Waits until no process of PHP has anything to do, so that the spare is warm. */
export async function untilCalm(ancestor: number): Promise<void> {
  const used = () => phpProcesses(ancestor).reduce((sum, { cpuMs }) => sum + cpuMs, 0);
  for (let before = -1, calm = 0; calm < 3; ) {
    await sleep(LOOK_MS);
    const now = used();
    calm = phpProcesses(ancestor).length > 0 && now - before <= CALM_MS ? calm + 1 : 0;
    before = now;
  }
}

/** The child processes of a process. */
export function children(id: number): number[] {
  try {
    return readdirSync(`/proc/${id}/task`).flatMap((thread) =>
      readFileSync(`/proc/${id}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
    );
  } catch {
    return [];
  }
}

/** The number of open files of a process. */
export function filesOf(id: number): number {
  return readdirSync(`/proc/${id}/fd`).length;
}

/** Processor time of all processes below one, in milliseconds, to 10 ms. Those that have ended do not count. */
export const cpuMsBelow = (ancestor: number): number => sumBelow(ancestor, cpuMsOf);

/** Memory of all processes below one, each with its share of what they have in common. */
export const pssMbBelow = (ancestor: number): number =>
  sumBelow(
    ancestor,
    (id) => Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${id}/smaps_rollup`, 'utf8'))?.[1]) / 1024,
  );

function sumBelow(ancestor: number, figureOf: (id: number) => number): number {
  let sum = 0;
  for (const id of descendants(ancestor)) {
    try {
      sum += figureOf(id);
    } catch {
      // It has ended meanwhile.
    }
  }
  return sum;
}

/** Fields 14 and 15 of proc(5) stat, in hundredths of a second. */
function cpuMsOf(id: number): number {
  const fields = readFileSync(`/proc/${id}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

function descendants(id: number): number[] {
  return children(id).flatMap((child) => [child, ...descendants(child)]);
}
