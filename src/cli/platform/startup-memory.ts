import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Time after which modules of first jobs and requests are loaded too. */
const SETTLED_MS = 1_500;

/**
 * Collects garbage of the start once. The heap would otherwise keep 40 MB. `last-resort` also returns empty pages to the
 * system.
 */
export function releaseStartupMemory(): void {
  setTimeout(() => {
    setFlagsFromString('--expose-gc');
    const collect: unknown = runInNewContext('gc');
    if (typeof collect === 'function') collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
  }, SETTLED_MS).unref();
}
