import { hasCode } from './error-code.ts';

/** Whether a process of this machine has this id. */
export function runs(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // A process of another user exists too.
    return hasCode(error, 'EPERM');
  }
}
