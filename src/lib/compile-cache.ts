import { getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';

/** The environment variable that names this process's cache of compiled modules to a child process. None without a cache. */
export function compileCacheVariable(): { NODE_COMPILE_CACHE?: string } {
  // Node uses a folder of its version below the one that it is given.
  const used = getCompileCacheDir();
  const folder = process.env.NODE_COMPILE_CACHE ?? (used === undefined ? undefined : dirname(used));
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: folder };
}

/**
 * The environment of a thread, with the cache of compiled modules. A thread finds it nowhere else. Without it, each thread strips types and
 * compiles again, which doubles the cost of its start.
 */
export const threadEnvironment = (): NodeJS.ProcessEnv => ({ ...process.env, ...compileCacheVariable() });
