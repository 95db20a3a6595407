import { join } from 'node:path';
import { downloadVerified } from '../machine/verified-download.ts';

const LATEST = 'latest.zip';
/** Several times the size of WordPress. */
const MOST_BYTES = 512 * 1024 * 1024;

/**
 * Downloads a WordPress release, or with null the newest, into `folder`, verifies its published checksum, and returns the archive's
 * path. wordpress.org publishes SHA-1, over HTTPS; a mirror may offer SHA-256.
 *
 * @throws PermanentHostError if the checksum differs or is missing; another Error if the download fails
 */
export async function downloadOfficial(
  url: string,
  folder: string,
  version: string | null,
  fetchUrl: typeof fetch = fetch,
): Promise<string> {
  const name = version === null ? LATEST : `wordpress-${version}.zip`;
  const path = join(folder, name);
  const address = `${url.replace(/\/+$/, '')}/${name}`;
  await downloadVerified(
    { address, checksums: ['sha256', 'sha1'], mostBytes: MOST_BYTES, path, what: 'WordPress' },
    fetchUrl,
  );
  return path;
}
