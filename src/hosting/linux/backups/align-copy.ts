import { startProgram } from '../../../lib/started-program.ts';
import { type SandboxedInstall, sandboxCommand } from '../isolation/sandbox.ts';
import type { LinuxLayout } from '../machine/layout.ts';
import { compareCopy } from './changed-files.ts';
import { listWebsite } from './website-listing.ts';

/** Lets tar replace files in folders that their owner has closed; the archive of changes has the modes of all folders. */
const OPEN_FOLDERS =
  'find htdocs private -type d ! -perm -u=rwx -exec chmod u+rwx -- {} + && exec xargs -0 -r rm -rf --';

/** A copy lacks something that an archive of changes leaves out. */
export class DifferentCopyError extends Error {
  override name = 'DifferentCopyError';
}

/**
 * Deletes from a copy of a website what an archive of changes replaces or no longer has. Rejects with a {@link DifferentCopyError} if the copy
 * lacks anything that the archive leaves out. `folder`: with `htdocs` and `private`. Like tar, all programs run as the install in its sandbox.
 */
export async function alignCopy(
  { layout, sandbox, folder }: { layout: LinuxLayout; sandbox: SandboxedInstall; folder: string },
  kept: string,
  signal: AbortSignal,
): Promise<void> {
  const copy = await listWebsite(layout, sandbox, { home: folder, signal });
  const { doomed, wrong } = await compareCopy(copy, kept);
  if (wrong.length > 0)
    throw new DifferentCopyError(`${wrong.length} files differ from those of the first copy`);
  const program = startProgram(
    sandboxCommand(layout, sandbox, ['/bin/sh', '-c', OPEN_FOLDERS], {
      folder,
      terminal: true,
      network: false,
    }),
    { ownSession: true },
  );
  const stop = () => program.stop();
  signal.addEventListener('abort', stop);
  try {
    program.stdin.end(Buffer.from(doomed.map((path) => `${path}\0`).join(''), 'latin1'));
    program.stdout.resume();
    await program.ended;
  } finally {
    signal.removeEventListener('abort', stop);
    await program.stop();
  }
}
