import { processLimit } from '../../lib/process-limits.ts';

/** The usual soft limit of a shell on Linux and the BSDs, for systems without `/proc`. */
const USUAL_LIMIT = 1024;

/**
 * The soft limit of open descriptors (files and sockets) of a process. Node raises it to the hard limit at start. Throws
 * if the process does not exist.
 */
export function descriptorLimit(pid: number | 'self' = 'self'): number {
  return Math.min(processLimit('Max open files', pid)?.soft ?? USUAL_LIMIT, Number.MAX_SAFE_INTEGER);
}
