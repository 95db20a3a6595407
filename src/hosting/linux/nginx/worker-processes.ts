import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from '../../../lib/error-code.ts';

/** nginx's worker processes. */
export interface Workers {
  /** Workers that accept connections. */
  serving: Set<number>;
  /** Every process below the main one, including workers that end and one that has just started and is not yet named so. */
  all: Set<number>;
}

/** `master`: nginx's main process. */
export async function workersOf(master: number): Promise<Workers> {
  const children = await readProc(join(String(master), 'task', String(master), 'children'));
  const pids = children.split(' ').map(Number).filter(Boolean);
  const titles = await Promise.all(pids.map((pid) => readProc(join(String(pid), 'cmdline'))));
  const serving = pids.filter((_, index) => /^nginx: worker process\0*$/.test(titles[index] ?? ''));
  return { serving: new Set(serving), all: new Set(pids) };
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
