import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from '../../../lib/error-code.ts';

/** nginx's worker processes. */
export interface Workers {
  /** Workers that accept connections. */
  serving: Set<number>;
  /** Workers of earlier configurations, which end after their last answer. */
  leaving: Set<number>;
  /** Every process below the main one, including a worker that has just started and is not yet named so. */
  all: Set<number>;
}

/** `master`: nginx's main process. */
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

/** How many configurations have workers, including the present one; fewer if some have already ended. */
export function generationsOf({ serving, leaving }: Workers): number {
  return 1 + leaving.size / Math.max(serving.size, 1);
}

/** Empty if the process is gone. */
async function readProc(path: string): Promise<string> {
  try {
    return await readFile(join('/proc', path), 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ESRCH')) return '';
    throw error;
  }
}
