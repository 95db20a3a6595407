import { LRUCache } from 'lru-cache';
import { addressBlock } from '../../../lib/address-block.ts';
import type { Clock } from '../../../lib/clock.ts';
import { MINUTE_MS } from '../../../lib/durations.ts';
import { entryLimit } from '../../../lib/entry-limit.ts';
import { LOGIN_LIMITS, NEXT_ATTEMPT } from '../../policy/login-limits.ts';

type AttemptKind = keyof typeof LOGIN_LIMITS;

/** Limits attempts to sign in to WordPress: those of one address block at one website. */
export interface LoginAttempts {
  /** Counts a request. Returns the seconds until the next attempt if this one is refused, otherwise null. */
  refusal(installId: string, address: string | undefined, request: AttemptedRequest): number | null;
}

interface AttemptedRequest {
  method: string;
  /** Decoded and normalised. */
  uri: string;
  /** Without its `?`. */
  query: string;
}

/** Attempts above the rate, and the time of the last one that was accepted. */
interface Bucket {
  excess: number;
  atMs: number;
}

const MOST_COUNTED = 20_000;
const PROGRAM = /\/([^/]+\.php)(?:\/|$)/;

export function createLoginAttempts({ clock }: { clock: Clock }): LoginAttempts {
  const buckets = new LRUCache<string, Bucket>(entryLimit(MOST_COUNTED));
  return {
    refusal(installId, address, request) {
      const kind = kindOf(request);
      if (kind === null) return null;
      const { perMinute, burst } = LOGIN_LIMITS[kind];
      const key = `${kind} ${installId} ${addressBlock(address)}`;
      const atMs = clock.now().getTime();
      const present = buckets.get(key);
      // The leaky bucket of nginx, which limits the same requests on Linux hosts.
      const excess =
        present === undefined
          ? 0
          : Math.max(0, present.excess - ((atMs - present.atMs) * perMinute) / MINUTE_MS + 1);
      if (excess > burst) return NEXT_ATTEMPT[kind];
      buckets.set(key, { excess, atMs });
      return null;
    },
  };
}

/** As `login_kind` of the Lua module `rules`. PHP obeys this query, and no action in the body (wordpress/php/settings.php). */
function kindOf({ method, uri, query }: AttemptedRequest): AttemptKind | null {
  if (method !== 'POST') return null;
  const program = PROGRAM.exec(uri)?.[1];
  if (program === 'wp-login.php') return query === 'action=postpass' ? 'postpass' : 'login';
  return program === 'xmlrpc.php' ? 'xmlrpc' : null;
}
