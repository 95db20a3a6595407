import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** The process group of a process. A bare Linux has no ps. */
export function processGroupOf(pid: number): number {
  if (process.platform !== 'linux') {
    return Number(execFileSync('ps', ['-o', 'pgid=', '-p', String(pid)], { encoding: 'utf8' }));
  }
  // The name of the program, in parentheses, can contain anything. Then come state, parent and group: proc(5).
  const [, , group] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
  return Number(group);
}
