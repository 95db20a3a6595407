import { MINUTE_MS } from '../../../lib/durations.ts';
import { requireWordPress } from '../../wordpress/wordpress-answers.ts';
import type { EmbeddedAddresses } from '../host-options.ts';
import { onLoopback } from '../serving.ts';
import type { SiteFacts } from './site.ts';

/** Its PHP may have to start first, on a slow machine. */
const TIMEOUT_MS = 2 * MINUTE_MS;

/** Rejects with a `BrokenWebsiteError` unless WordPress generates the home page of a website. `names`: all its host names. */
export function requireHomePage(
  { origin, passKey, names }: Pick<SiteFacts, 'origin' | 'passKey'> & { names: readonly string[] },
  { edgeHttp, edgeHttps }: EmbeddedAddresses,
  signal?: AbortSignal,
): Promise<void> {
  const { protocol, hostname: primaryHostname } = new URL(origin);
  return requireWordPress(
    { primaryHostname, secure: protocol === 'https:', names, passKey },
    { http: onLoopback(edgeHttp), https: onLoopback(edgeHttps) },
    signal,
    TIMEOUT_MS,
  );
}
