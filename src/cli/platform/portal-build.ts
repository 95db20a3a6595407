import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { OperatorError } from '../../lib/operator-error.ts';

const BUILDER = fileURLToPath(new URL('../../../web/build.ts', import.meta.url));

/** Folder of the portal's pages, and whether they were built now. */
export interface ProvidedPortal {
  folder: string;
  built: boolean;
}

/**
 * Builds the portal if it is missing or older than its sources: into `web/dist`, or into `otherwise` if this user cannot
 * write there. A child process builds it, so that the server does not load the build tools.
 * Throws OperatorError.
 */
export async function providePortal(otherwise?: string): Promise<ProvidedPortal> {
  const words = [BUILDER, '--when-missing', ...(otherwise === undefined ? [] : [otherwise])];
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] });
  const [printed] = await Promise.all([text(child.stdout), once(child, 'close')]);
  const [, state, folder] = /^(built|present) (.+)\n$/.exec(printed) ?? [];
  if (child.exitCode !== 0 || folder === undefined) {
    throw new OperatorError(
      'The portal could not be built, for the reason above. The API works without it: start with "homeport serve", without --build-portal.',
    );
  }
  return { folder, built: state === 'built' };
}
