import { hasCode } from '../lib/error-code.ts';

/** Whether a process of this machine has this id. */
export function runs(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // Another user's process is one all the same.
    return hasCode(error, 'EPERM');
  }
}
