import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from '../../../lib/error-code.ts';

/** The worker processes of an nginx. */
export interface Workers {
  /** Those that accept connections. */
  serving: Set<number>;
  /** Those of earlier configurations, which end once their last visitor is answered. */
  leaving: Set<number>;
  /** Every process below the main one: also a worker that has only just begun, and is not yet called one. */
  all: Set<number>;
}

/** `master`: the main process of nginx. */
export async function workersOf(master: number): Promise<Workers> {
  const children = await readProc(join(String(master), 'task', String(master), 'children'));
  const pids = children.split(' ').map(Number).filter(Boolean);
  const titles = await Promise.all(pids.map((pid) => readProc(join(String(pid), 'cmdline'))));
  const titled = (title: RegExp) => new Set(pids.filter((_, index) => title.test(titles[index] ?? '')));
  return {
    serving: titled(/^nginx: worker process\0*$/),
    leaving: titled(/^nginx: worker process is shutting down\0*$/),
    all: new Set(pids),
  };
}

/** How many configurations there are workers of, the present one included; where some have ended already, fewer. */
export function generationsOf({ serving, leaving }: Workers): number {
  return 1 + leaving.size / Math.max(serving.size, 1);
}

/** Empty for a process that is gone. */
async function readProc(path: string): Promise<string> {
  try {
    return await readFile(join('/proc', path), 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ESRCH')) return '';
    throw error;
  }
}
