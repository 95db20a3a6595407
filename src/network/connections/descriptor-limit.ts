import { readFileSync } from 'node:fs';

/** The soft limit of a shell on Linux and the BSDs, assumed where `/proc` does not tell. */
const USUAL_LIMIT = 1024;

/**
 * How many descriptors (files and sockets) a process may have open. Node raises its soft limit to the hard one when it
 * starts, so for a Node process this is the hard limit. Throws if there is no such process.
 */
export function descriptorLimit(pid: number | 'self' = 'self'): number {
  if (process.platform !== 'linux') return USUAL_LIMIT;
  const limits = readFileSync(`/proc/${pid}/limits`, 'utf8');
  const soft = /^Max open files\s+(\S+)/m.exec(limits)?.[1];
  return soft === 'unlimited' ? Number.MAX_SAFE_INTEGER : Number(soft ?? USUAL_LIMIT);
}
