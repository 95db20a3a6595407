import { readFileSync } from 'node:fs';

/** The usual soft limit of a shell on Linux and the BSDs, for systems without `/proc`. */
const USUAL_LIMIT = 1024;

/**
 * The soft limit of open descriptors (files and sockets) of a process. Node raises it to the hard limit at start. Throws
 * if the process does not exist.
 */
export function descriptorLimit(pid: number | 'self' = 'self'): number {
  if (process.platform !== 'linux') return USUAL_LIMIT;
  const limits = readFileSync(`/proc/${pid}/limits`, 'utf8');
  const soft = /^Max open files\s+(\S+)/m.exec(limits)?.[1];
  return soft === 'unlimited' ? Number.MAX_SAFE_INTEGER : Number(soft ?? USUAL_LIMIT);
}
