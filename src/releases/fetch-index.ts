import { MINUTE_MS } from '../lib/durations.ts';
import { MOST_INDEX_BYTES, parseReleaseIndex, type ReleaseIndex } from '../lib/releases/release-index.ts';

const WITHIN_MS = MINUTE_MS / 2;

/**
 * Reads the list of releases. The request names no version, no platform and no user; the server sees the address of this machine or of its
 * proxy. Rejects with a sentence for the operator.
 */
export async function fetchReleaseIndex(
  address: string,
  { signal, fetchUrl = fetch }: { signal?: AbortSignal; fetchUrl?: typeof fetch } = {},
): Promise<ReleaseIndex> {
  const within = AbortSignal.timeout(WITHIN_MS);
  const response = await fetchUrl(address, {
    headers: { accept: 'application/json', 'user-agent': 'homeport' },
    // A list that was changed could name addresses of this network, or leave out TLS.
    redirect: 'manual',
    signal: signal === undefined ? within : AbortSignal.any([signal, within]),
  });
  if (!response.ok) {
    await response.body?.cancel();
    const isElsewhere = response.status >= 300 && response.status < 400;
    const why = isElsewhere ? '; redirects are not followed, so name the address where the list is' : '';
    throw new Error(`${address} answers ${response.status}${why}`);
  }
  return parseReleaseIndex(await boundedText(response));
}

/** Ends the reading after the largest list. */
async function boundedText({ body }: Response): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of body ?? []) {
    bytes += part.length;
    if (bytes > MOST_INDEX_BYTES) throw new Error('the list of releases is larger than 1 MiB');
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}
