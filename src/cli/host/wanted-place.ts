import { readFile } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import { s3Credentials } from '../../config/settings/setting-values.ts';
import type { WantedPlace } from '../../hosting/contract/backup-places.ts';
import { messageOf } from '../../lib/error-message.ts';
import { OperatorError } from '../../lib/operator-error.ts';

/**
 * A place for backups as an option names it; null without the option. The key of a bucket comes from a file, because all users of a
 * machine can read arguments. Throws OperatorError.
 */
export async function wantedPlace(
  address: string | undefined,
  credentialsFile: string | undefined,
  option: '--to' | '--from',
): Promise<WantedPlace | null> {
  if (address === undefined) {
    if (credentialsFile === undefined) return null;
    throw new OperatorError(`${credentialsFile} has a key for a bucket: name the bucket with ${option}.`);
  }
  if (!address.startsWith('s3:')) {
    if (isAbsolute(address)) return { address, credentials: null };
    throw new OperatorError(
      `${option} is "${address}": give the absolute path of a folder on the host, or s3:https://endpoint/bucket/prefix.`,
    );
  }
  if (credentialsFile === undefined) return { address, credentials: null };
  let text: string;
  try {
    text = await readFile(credentialsFile, 'utf8');
  } catch (cause) {
    throw new OperatorError(`The key for ${option} cannot be read: ${messageOf(cause)}.`, { cause });
  }
  return { address, credentials: s3Credentials(text.trim(), credentialsFile) };
}
