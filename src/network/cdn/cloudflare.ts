import Type from 'typebox';
import { Value } from 'typebox/value';
import { rootMessageOf } from '../../lib/error-message.ts';
import { OperatorError } from '../../lib/operator-error.ts';

/** Purges the caches of a content delivery network. */
export interface Cdn {
  /**
   * Purges all content of these host names (ASCII, no wildcards). Resolves once the network has accepted the request.
   * Refused names do not keep others from being purged. Rejects with a {@link CdnError} if all names are refused or the
   * network is unreachable.
   */
  purge(hostnames: readonly string[], signal?: AbortSignal): Promise<Purged>;
}

export interface Purged {
  /** Names that the network refused, for example because they are outside the zone. */
  refused: RefusedName[];
}

export interface RefusedName {
  hostname: string;
  /** The network's reason on one line. */
  reason: string;
}

/** A failed purge. The message is one sentence for the operator. */
export class CdnError extends Error {
  override name = 'CdnError';
  /** Whether retries fail until the operator fixes the configuration. */
  readonly permanent: boolean;

  constructor(message: string, { permanent, cause }: { permanent: boolean; cause?: unknown }) {
    super(message, { cause });
    this.permanent = permanent;
  }
}

export interface CdnOptions {
  /** Id of the zone at Cloudflare (32 hexadecimal digits). */
  zone: string | null;
  /** API token with the permission "Cache Purge" for the zone. */
  token: string | null;
  /** Base URL of the API without a final slash: `https://api.cloudflare.com/client/v4`. */
  api: string;
  fetch?: typeof fetch;
}

/** Cloudflare's limit of names in one call. */
const NAMES_A_CALL = 30;
const CALL_TIMEOUT_MS = 10_000;
const LONGEST_REASON = 300;

/** Common fields of all answers of Cloudflare's API. */
const answerSchema = Type.Object({
  success: Type.Boolean(),
  errors: Type.Optional(Type.Array(Type.Object({ code: Type.Number(), message: Type.String() }))),
});

/**
 * Creates a client of Cloudflare's API "purge cached content by hostname". Null without zone and token. Throws an {@link
 * OperatorError} if only one of them is configured.
 */
export function createCdn({ zone, token, api, fetch = globalThis.fetch }: CdnOptions): Cdn | null {
  if (zone === null && token === null) return null;
  if (zone === null || token === null) {
    throw new OperatorError('HOMEPORT_CDN_ZONE and HOMEPORT_CDN_TOKEN go together: set both, or neither.');
  }
  const address = `${api}/zones/${encodeURIComponent(zone)}/purge_cache`;

  async function call(hosts: readonly string[], signal: AbortSignal | undefined): Promise<void> {
    const timeout = AbortSignal.timeout(CALL_TIMEOUT_MS);
    let response: Response;
    let text: string;
    try {
      response = await fetch(address, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ hosts }),
        // A redirect would send the token to another address.
        redirect: 'error',
        signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
      });
      text = await response.text();
    } catch (cause) {
      signal?.throwIfAborted();
      const reason = timeout.aborted
        ? `it did not answer within ${CALL_TIMEOUT_MS} ms`
        : rootMessageOf(cause);
      throw new CdnError(`Cloudflare cannot be reached at ${api}: ${reason}.`, { permanent: false, cause });
    }
    const reason = refusalIn(response, text);
    if (reason !== null) throw refusal(response.status, reason, api);
  }

  /** Cloudflare refuses a whole call for one bad name, perhaps without naming it, so each half is tried again. */
  async function purgeEach(
    hosts: readonly string[],
    signal: AbortSignal | undefined,
  ): Promise<RefusedName[]> {
    try {
      await call(hosts, signal);
      return [];
    } catch (error) {
      if (!(error instanceof NamesRefused)) throw error;
      const [only] = hosts;
      if (only !== undefined && hosts.length === 1) return [{ hostname: only, reason: error.reason }];
      const middle = Math.ceil(hosts.length / 2);
      const first = await purgeEach(hosts.slice(0, middle), signal);
      return [...first, ...(await purgeEach(hosts.slice(middle), signal))];
    }
  }

  return {
    async purge(hostnames, signal) {
      const names = [...new Set(hostnames)];
      const refused: RefusedName[] = [];
      for (let at = 0; at < names.length; at += NAMES_A_CALL) {
        refused.push(...(await purgeEach(names.slice(at, at + NAMES_A_CALL), signal)));
      }
      if (names.length > 0 && refused.length === names.length) {
        const reasons = [...new Set(refused.map(({ reason }) => reason))].join('; ');
        throw new CdnError(`Cloudflare refused to purge ${names.join(', ')}: ${reasons}.`, {
          permanent: true,
        });
      }
      return { refused };
    },
  };
}

/** Cloudflare refused the call because of its names. */
class NamesRefused extends Error {
  override name = 'NamesRefused';
  readonly reason: string;

  constructor(reason: string) {
    super(reason);
    this.reason = reason;
  }
}

function refusal(status: number, reason: string, api: string): Error {
  if (status === 400) return new NamesRefused(reason);
  if (status === 401 || status === 403) {
    return new CdnError(
      `Cloudflare does not accept the token of HOMEPORT_CDN_TOKEN for this zone: ${reason}. It needs the permission "Cache Purge" for the zone of HOMEPORT_CDN_ZONE.`,
      { permanent: true },
    );
  }
  if (status === 404) {
    return new CdnError(
      `Cloudflare knows no such zone at ${api}: ${reason}. HOMEPORT_CDN_ZONE must be the zone's id, not its name.`,
      { permanent: true },
    );
  }
  return new CdnError(`Cloudflare did not purge: ${reason}.`, { permanent: false });
}

/** Cloudflare's reason for a refusal on one line; null if it accepted the call. */
function refusalIn({ status, ok }: Response, text: string): string | null {
  const answer = parsed(text);
  if (ok && answer?.success) return null;
  const said = (answer?.errors ?? []).map(({ code, message }) => `${message} (code ${code})`).join('; ');
  const line = said.replace(/[\s\p{Cc}]+/gu, ' ').trim();
  return `HTTP ${status}${line === '' ? ', without a reason' : `, ${line.slice(0, LONGEST_REASON)}`}`;
}

function parsed(text: string): Type.Static<typeof answerSchema> | null {
  try {
    const value: unknown = JSON.parse(text);
    return Value.Check(answerSchema, value) ? value : null;
  } catch {
    // A proxy in between may answer with an HTML page.
    return null;
  }
}
