import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { OperatorError } from '../../lib/operator-error.ts';

const BUILDER = fileURLToPath(new URL('../../../web/build.ts', import.meta.url));

/** Where the portal's pages are, and whether they had to be built. */
export interface ProvidedPortal {
  folder: string;
  built: boolean;
}

/**
 * Builds the portal's pages if they are missing or older than their sources: into `web/dist`, or into `otherwise` if this user may
 * not write there. A process of its own builds them, so that the server does not load what only building needs.
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
