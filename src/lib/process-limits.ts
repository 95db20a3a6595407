import { readFileSync } from 'node:fs';

/** A limit as `/proc/PID/limits` names it. */
export type LimitName = 'Max open files' | 'Max processes' | 'Max data size';

export interface ProcessLimit {
  soft: number;
  /** The process cannot raise a limit above it without privileges. */
  hard: number;
}

/** A limit of a process, `Infinity` for none; null for systems without `/proc`. Throws if the process does not exist. */
export function processLimit(name: LimitName, pid: number | 'self' = 'self'): ProcessLimit | null {
  if (process.platform !== 'linux') return null;
  return parseLimit(readFileSync(`/proc/${pid}/limits`, 'utf8'), name);
}

export function parseLimit(limits: string, name: LimitName): ProcessLimit | null {
  const [, soft, hard] = new RegExp(`^${name}\\s+(\\S+)\\s+(\\S+)`, 'm').exec(limits) ?? [];
  if (soft === undefined || hard === undefined) return null;
  const number = (text: string) => (text === 'unlimited' ? Number.POSITIVE_INFINITY : Number(text));
  return { soft: number(soft), hard: number(hard) };
}
