import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { BUILT_PORTAL } from '../../api/portal-pages.ts';
import { OperatorError } from '../../lib/operator-error.ts';
import { IS_RELEASE } from '../../lib/program-version.ts';

const BUILDER = fileURLToPath(new URL('../../../web/build.ts', import.meta.url));

/** Where the portal's pages are. */
export interface ProvidedPortal {
  folder: string;
  /** Resolves to the folder once it is built, and rejects with OperatorError if that fails. Null if the pages were there. */
  build: Promise<string> | null;
}

interface ProvideOptions {
  /** The folder to build into if this user cannot write to `web/dist`. */
  otherwise?: string;
  /** Ends the build. */
  signal?: AbortSignal;
}

/**
 * Begins to build the portal if it is missing or older than its sources: into `web/dist`, or into `otherwise`. A child process builds it, so
 * that the server does not load the build tools. Throws OperatorError.
 */
export async function providePortal({ otherwise, signal }: ProvideOptions = {}): Promise<ProvidedPortal> {
  if (IS_RELEASE) return { folder: BUILT_PORTAL, build: null };
  const words = [BUILDER, '--when-missing', ...(otherwise === undefined ? [] : [otherwise])];
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'], signal });
  const closed = once(child, 'close');
  for await (const line of createInterface({ input: child.stdout })) {
    const [, state, folder] = /^(building|present) (.+)$/.exec(line) ?? [];
    if (folder === undefined) continue;
    // Otherwise its end is never seen.
    child.stdout.resume();
    const build = closed.then(() => {
      if (child.exitCode !== 0) throw notBuilt();
      return folder;
    });
    // Callers wait for it, perhaps later than it fails.
    build.catch(() => {});
    return { folder, build: state === 'building' ? build : null };
  }
  await closed;
  throw notBuilt();
}

const notBuilt = () =>
  new OperatorError(
    'The portal could not be built, for the reason above. The API works without it. "npm run build" tries again.',
  );
