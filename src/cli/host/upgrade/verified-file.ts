import { createHash } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { OperatorError } from '../../../lib/operator-error.ts';
import { CommandError, runCommand } from '../../../lib/run-command.ts';

export const SUMS = 'SHA256SUMS';
export const SIGNATURE = 'SHA256SUMS.sig';
const SIGNER = 'homeport-release';
/** Beside `package.json` in what a release publishes: the keys that sign later releases. */
const SIGNERS_FILE = 'release-signers';

/** The file with the keys that sign releases; null if this program was built without one. */
export function signersOf(root: string): string | null {
  const file = join(root, SIGNERS_FILE);
  return existsSync(file) ? file : null;
}

/**
 * Verifies a file against the signed checksums beside it. Throws OperatorError, which names it as `shown`. `signers`: see {@link signersOf}.
 */
export async function verifyFile(file: string, signers: string, shown = file): Promise<void> {
  const sums = join(dirname(file), SUMS);
  const text = await readFile(sums);
  try {
    const words = ['-Y', 'verify', '-f', signers, '-I', SIGNER, '-n', SIGNER, '-s'];
    await runCommand('ssh-keygen', [...words, join(dirname(file), SIGNATURE)], { input: text });
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    throw new OperatorError(
      `The signature of ${join(dirname(shown), SUMS)} is wrong. Nothing was changed. Do not install ${shown}.`,
      {
        cause: error,
      },
    );
  }
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  if (
    !text
      .toString('utf8')
      .split('\n')
      .includes(`${hash.digest('hex')}  ${basename(file)}`)
  ) {
    throw new OperatorError(
      `The checksum of ${shown} is wrong. The file is damaged or was changed. Nothing was changed here.`,
    );
  }
}
