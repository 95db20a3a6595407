import { errorOf } from './errors.ts';

/** The surroundings of a client, which tests replace. */
export interface Surroundings {
  fetch: (request: Request) => Promise<Response>;
  sleep: (milliseconds: number, signal?: AbortSignal) => Promise<void>;
  /** From 0 to below 1. */
  random: () => number;
}

export interface RetryLimits {
  /** Retries after the first attempt. */
  retries: number;
  /** The longest pause that the client accepts; a longer `Retry-After` ends the retries. */
  longestPauseMs: number;
}

const FIRST_PAUSE_MS = 250;
/** Too many requests, and a server that is away for a moment. */
const PASSING = new Set([429, 502, 503, 504]);

/**
 * Sends a request until it succeeds or retries are used up. Obeys `Retry-After` (RFC 9110, section 10.2.3); without it, pauses grow
 * exponentially and are random. Only a `repeatable` request is sent again. Throws HomeportError for error answers.
 */
export async function sendWithRetries(
  request: Request,
  repeatable: boolean,
  { retries, longestPauseMs }: RetryLimits,
  { fetch, sleep, random }: Surroundings,
): Promise<Response> {
  for (let attempt = 0; ; attempt++) {
    const isLast = !repeatable || attempt >= retries;
    const pause = FIRST_PAUSE_MS * 2 ** attempt * (0.5 + random() / 2);
    let response: Response;
    try {
      response = await fetch(isLast ? request : request.clone());
    } catch (error) {
      if (isLast || request.signal.aborted) throw error;
      await sleep(pause, request.signal);
      continue;
    }
    if (response.ok) return response;
    const asked = retryAfterMs(response.headers.get('retry-after'));
    const wait = asked ?? pause;
    if (isLast || !PASSING.has(response.status) || wait > longestPauseMs) throw await errorOf(response);
    await response.body?.cancel();
    await sleep(wait, request.signal);
  }
}

/** Milliseconds from a `Retry-After` in seconds; undefined without one. Homeport sends no dates. */
function retryAfterMs(header: string | null): number | undefined {
  return header !== null && /^\d+$/.test(header) ? Number(header) * 1_000 : undefined;
}
