import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { MINUTE_MS } from '../../lib/durations.ts';
import { PermanentHostError } from '../contract/errors.ts';

const TIMEOUT_MS = 5 * MINUTE_MS;
const HEX_LENGTHS = { sha1: 40, sha256: 64, sha512: 128 } as const;

type Algorithm = keyof typeof HEX_LENGTHS;
type Checksum = { algorithm: Algorithm; hex: string };

export interface VerifiedDownload {
  address: string;
  /** The checksum is at the address with one of these endings: `.sha256`. The first one that exists counts. */
  checksums: readonly Algorithm[];
  mostBytes: number;
  /** The file to write. */
  path: string;
  /** Its name, for messages: `WordPress`. */
  what: string;
  /** Called with each part: the bytes so far, and all of them unless the server does not tell. */
  report?: ((done: number, total: number | null) => void) | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * Downloads a file and verifies its published checksum.
 *
 * @throws PermanentHostError if the checksum differs or is missing; another Error if the download fails
 */
export async function downloadVerified(
  { address, checksums, mostBytes, path, what, report, signal: aborted }: VerifiedDownload,
  fetchUrl: typeof fetch = fetch,
): Promise<void> {
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  const signal = aborted === undefined ? timeout : AbortSignal.any([timeout, aborted]);
  const published = await publishedChecksum(address, checksums, fetchUrl, signal);
  const hash = createHash(published.algorithm);
  const response = await fetchUrl(address, { signal });
  if (!response.ok || response.body === null) {
    await response.body?.cancel();
    throw new Error(`${address} answers ${response.status}`);
  }
  const length = Number(response.headers.get('content-length'));
  const total = Number.isSafeInteger(length) && length > 0 ? length : null;
  let bytes = 0;
  const measure = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      hash.update(chunk);
      if (bytes > mostBytes) return done(new PermanentHostError(`${address} is too large for ${what}`));
      report?.(bytes, total);
      done(null, chunk);
    },
  });
  await pipeline(Readable.fromWeb(response.body), measure, createWriteStream(path, { mode: 0o600 }), {
    signal,
  });
  const hex = hash.digest('hex');
  if (hex !== published.hex) {
    throw new PermanentHostError(
      `${address} does not match its published checksum: its ${published.algorithm} is ${hex} instead of ${published.hex}. If a new version came out this minute, try again`,
    );
  }
}

async function publishedChecksum(
  address: string,
  algorithms: readonly Algorithm[],
  fetchUrl: typeof fetch,
  signal: AbortSignal,
): Promise<Checksum> {
  for (const algorithm of algorithms) {
    const response = await fetchUrl(`${address}.${algorithm}`, { signal });
    const text = (await response.text()).trim();
    if (response.status === 404) continue;
    if (!response.ok) throw new Error(`${address}.${algorithm} answers ${response.status}`);
    const hex = /^([0-9a-f]{40,128})(\s|$)/i.exec(text)?.[1]?.toLowerCase();
    if (hex?.length !== HEX_LENGTHS[algorithm]) {
      throw new PermanentHostError(`${address}.${algorithm} contains no checksum`);
    }
    return { algorithm, hex };
  }
  throw new PermanentHostError(`${address} has no published checksum, so it cannot be verified`);
}
