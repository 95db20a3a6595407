import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** By then what the start left to be done later (first jobs, first requests) has been loaded too. */
const SETTLED_MS = 1_500;

/**
 * Collects once what loading left behind: the heap had grown for it and would keep its size, 40 MB that a process at rest
 * has no use for. `last-resort` is the collection that also gives the empty pages back.
 */
export function releaseStartupMemory(): void {
  setTimeout(() => {
    setFlagsFromString('--expose-gc');
    const collect: unknown = runInNewContext('gc');
    if (typeof collect === 'function') collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
  }, SETTLED_MS).unref();
}
