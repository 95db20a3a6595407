import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { MINUTE_MS } from '../../../lib/durations.ts';
import { PermanentHostError } from '../../contract/host.ts';

const LATEST = 'latest.zip';
const TIMEOUT_MS = 5 * MINUTE_MS;
/** Several times the size of WordPress. */
const MOST_BYTES = 512 * 1024 * 1024;
/** wordpress.org publishes SHA-1, over HTTPS; a mirror may offer SHA-256. */
const CHECKSUMS = ['sha256', 'sha1'] as const;

type Checksum = { algorithm: (typeof CHECKSUMS)[number]; hex: string };

/**
 * Downloads a WordPress release, or with null the newest, into `folder`, verifies its published checksum, and returns the archive's
 * path.
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
  const address = `${url.replace(/\/+$/, '')}/${name}`;
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const published = await publishedChecksum(address, fetchUrl, signal);
  const archive = join(folder, name);
  const hex = await downloadTo(archive, address, published.algorithm, fetchUrl, signal);
  if (hex !== published.hex) {
    throw new PermanentHostError(
      `${address} does not match its published checksum: its ${published.algorithm} is ${hex} instead of ${published.hex}. If a new version came out this minute, try again`,
    );
  }
  return archive;
}

async function publishedChecksum(
  address: string,
  fetchUrl: typeof fetch,
  signal: AbortSignal,
): Promise<Checksum> {
  for (const algorithm of CHECKSUMS) {
    const response = await fetchUrl(`${address}.${algorithm}`, { signal });
    const text = (await response.text()).trim();
    if (response.status === 404) continue;
    if (!response.ok) throw new Error(`${address}.${algorithm} answers ${response.status}`);
    const hex = /^([0-9a-f]{40,64})(\s|$)/i.exec(text)?.[1]?.toLowerCase();
    const length = algorithm === 'sha1' ? 40 : 64;
    if (hex?.length !== length) throw new PermanentHostError(`${address}.${algorithm} contains no checksum`);
    return { algorithm, hex };
  }
  throw new PermanentHostError(`${address} has no published checksum, so it cannot be verified`);
}

/** Returns the checksum of the written bytes. */
async function downloadTo(
  path: string,
  address: string,
  algorithm: string,
  fetchUrl: typeof fetch,
  signal: AbortSignal,
): Promise<string> {
  const response = await fetchUrl(address, { signal });
  if (!response.ok || response.body === null) {
    await response.body?.cancel();
    throw new Error(`${address} answers ${response.status}`);
  }
  const hash = createHash(algorithm);
  let bytes = 0;
  const measure = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      hash.update(chunk);
      if (bytes > MOST_BYTES) return done(new PermanentHostError(`${address} is too large for WordPress`));
      done(null, chunk);
    },
  });
  await pipeline(Readable.fromWeb(response.body), measure, createWriteStream(path, { mode: 0o600 }), {
    signal,
  });
  return hash.digest('hex');
}
