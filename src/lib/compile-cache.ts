import { getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';

/** The environment variable with which a child process uses this one's cache of compiled modules; none if it has no cache. */
export function compileCacheVariable(): { NODE_COMPILE_CACHE?: string } {
  // Node uses a folder of its version below the one that it is given.
  const used = getCompileCacheDir();
  const folder = process.env.NODE_COMPILE_CACHE ?? (used === undefined ? undefined : dirname(used));
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: folder };
}

/**
 * The environment of a thread. It has the cache of compiled modules, which a thread finds there only: without it, each thread strips types
 * and compiles again, which doubles the cost of its start.
 */
export const threadEnvironment = (): NodeJS.ProcessEnv => ({ ...process.env, ...compileCacheVariable() });
