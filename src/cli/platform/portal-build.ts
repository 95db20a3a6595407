import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { OperatorError } from '../../lib/operator-error.ts';

const BUILDER = fileURLToPath(new URL('../../../web/build.ts', import.meta.url));

/** Folder of the portal's pages, and whether they were built now. */
export interface ProvidedPortal {
  folder: string;
  built: boolean;
}

interface ProvideOptions {
  /** The folder to build into if this user cannot write to `web/dist`. */
  otherwise?: string;
  /** Called when a build begins. */
  onBuilding?(): void;
}

/**
 * Builds the portal if it is missing or older than its sources: into `web/dist`, or into `otherwise`. A child process builds it, so that the
 * server does not load the build tools. Throws OperatorError.
 */
export async function providePortal({ otherwise, onBuilding }: ProvideOptions = {}): Promise<ProvidedPortal> {
  const words = [BUILDER, '--when-missing', ...(otherwise === undefined ? [] : [otherwise])];
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] });
  const closed = once(child, 'close');
  let provided: ProvidedPortal | undefined;
  for await (const line of createInterface({ input: child.stdout })) {
    const [, state, folder] = /^(building|built|present) (.+)$/.exec(line) ?? [];
    if (state === 'building') onBuilding?.();
    else if (folder !== undefined) provided = { folder, built: state === 'built' };
  }
  await closed;
  if (child.exitCode !== 0 || provided === undefined) {
    throw new OperatorError(
      'The portal could not be built, for the reason above. The API works without it: start with "homeport serve", without --build-portal.',
    );
  }
  return provided;
}
