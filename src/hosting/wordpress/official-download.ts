import { join } from 'node:path';
import { downloadVerified, type VerifiedDownload } from '../policy/verified-download.ts';

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
  {
    version,
    kind = 'zip',
    report,
    signal,
  }: {
    version: string | null;
    kind?: 'zip' | 'tar.gz' | undefined;
    report?: VerifiedDownload['report'];
    signal?: AbortSignal | undefined;
  },
  fetchUrl: typeof fetch = fetch,
): Promise<string> {
  const name = version === null ? `latest.${kind}` : `wordpress-${version}.${kind}`;
  const path = join(folder, name);
  const address = `${url.replace(/\/+$/, '')}/${name}`;
  await downloadVerified(
    {
      address,
      checksums: ['sha256', 'sha1'],
      mostBytes: MOST_BYTES,
      path,
      what: 'WordPress',
      report,
      signal,
    },
    fetchUrl,
  );
  return path;
}
