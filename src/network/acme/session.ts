import { AsyncLocalStorage } from 'node:async_hooks';
import { Agent } from 'node:https';
import { createSecureContext, rootCertificates, type SecureContext } from 'node:tls';
import type { Clock } from '../../lib/clock.ts';
import { proxyOfAgents } from '../../lib/outbound-proxy.ts';
import { parseProblem, refusalOf } from './problem.ts';
import { AcmeRefusal, afterValidation, ERROR_NAMESPACE } from './refusal.ts';
import { unreachable, unusable } from './unreachable.ts';
import { retryAfterMs } from './wire.ts';

/** The loaded ACME library. */
export type AcmeClient = typeof import('acme-client');

export interface SessionLimits {
  /** Timeout of one request. */
  requestMs: number;
  /** Timeout of the whole session. */
  totalMs: number;
}

/** One task at the authority, such as an order. It ends with its work. */
export interface AcmeSession {
  acme: AcmeClient;
  /** Aborts when the caller aborts or the session times out. */
  signal: AbortSignal;
  /** Retry-After of the last answer, in milliseconds. */
  retryAfterMs(): number | null;
  /** Awaits `work`. Rejects at once when the session is aborted, even if the work has not ended. */
  within<T>(work: Promise<T>): Promise<T>;
  /** Like `within`, for work that does not involve the authority: its errors are rethrown unchanged. */
  elsewhere<T>(work: Promise<T>): Promise<T>;
  /** Marks every later refusal as one after a validation request. */
  validationRequested(): void;
}

/** Runs `work` in one session. `name`: its host name, or null for work on the account. */
export type RunSession = <T>(
  about: { name: string | null; signal: AbortSignal },
  work: (session: AcmeSession) => Promise<T>,
) => Promise<T>;

/** Settings and state that the requests of one session share. */
interface RequestContext {
  directoryUrl: string;
  agent: Agent;
  signal: AbortSignal;
  requestMs: number;
  clock: Clock;
  name: string | null;
  retryAfterMs: number | null;
  /** The last answer refused the nonce. */
  nonceRefused: boolean;
}

/** A certificate chain is some KB. */
const MAX_RESPONSE_BYTES = 1024 * 1024;

// acme-client takes neither a CA nor a signal, and all its clients share one HTTP client. Async context gives each
// request the settings of its session, so two authorities in one process stay apart.
const requestContext = new AsyncLocalStorage<RequestContext>();

let loading: Promise<AcmeClient> | undefined;

/** Loads the library on first use: it takes 200 ms and 40 MB, and platforms without an authority never need it. */
function load(): Promise<AcmeClient> {
  loading ??= import('acme-client').then(prepare);
  return loading;
}

/**
 * Replaces the library's interceptors. They repeat a request up to five times, sleep as long as Retry-After says (hours
 * at a rate limit) and lose the cause of a failed connection. Callers decide when to try again.
 */
function prepare(acme: AcmeClient): AcmeClient {
  const { interceptors } = acme.axios;
  interceptors.request.clear();
  interceptors.response.clear();
  interceptors.request.use((config) => {
    const here = requestContext.getStore();
    if (here === undefined) throw new Error('a request to the authority was made outside a session');
    // RFC 8555 section 6.1. The authority chooses these URLs.
    if (!config.url?.startsWith('https:')) throw unusable(here.directoryUrl, 'it uses URLs without HTTPS');
    config.httpsAgent = here.agent;
    config.proxy = false;
    config.signal = AbortSignal.any([here.signal, AbortSignal.timeout(here.requestMs)]);
    config.maxRedirects = 0;
    config.maxContentLength = MAX_RESPONSE_BYTES;
    config.validateStatus = null;
    config.headers.set('User-Agent', 'Homeport acme-client');
    config.headers.set('Accept-Language', 'en');
    return config;
  });
  interceptors.response.use((response) => {
    const here = requestContext.getStore();
    if (here === undefined) throw new Error('an answer of the authority came outside a session');
    here.retryAfterMs = retryAfterMs(headerOf(response.headers, 'retry-after'), here.clock.now());
    here.nonceRefused = false;
    if (response.status < 300) return response;
    const problem = parseProblem(response.data);
    if (problem === null) throw unusable(here.directoryUrl, `it answers with HTTP status ${response.status}`);
    // acme-client retries with the fresh nonce of the answer (RFC 8555 section 6.5).
    if (problem.type === `${ERROR_NAMESPACE}badNonce`) {
      here.nonceRefused = true;
      return response;
    }
    throw refusalOf(problem, here.name, here.retryAfterMs);
  });
  return acme;
}

function headerOf(headers: object, name: string): string | undefined {
  const value: unknown = Reflect.get(headers, name);
  return typeof value === 'string' ? value : undefined;
}

/**
 * Creates sessions with one authority. Errors below ACME become an AcmeRefusal of type `unreachable`. If the caller's
 * signal aborts, its reason is thrown. `ca`: extra PEM to trust for this authority, besides the well-known roots.
 */
export function createSessions(
  { directoryUrl, ca }: { directoryUrl: string; ca: string | null },
  { clock, limits }: { clock: Clock; limits: SessionLimits },
): RunSession {
  let trust: SecureContext | undefined;

  function createAgent(): Agent {
    if (ca === null) return new Agent({ keepAlive: true, ...proxyOfAgents() });
    // Parsing about 150 roots is slow, so it happens once.
    trust ??= createSecureContext({ ca: [...rootCertificates, ca] });
    return new Agent({ keepAlive: true, secureContext: trust, ...proxyOfAgents() });
  }

  return async ({ name, signal }, work) => {
    signal.throwIfAborted();
    const acme = await load();
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(), limits.totalMs);
    const agent = createAgent();
    const here: RequestContext = {
      directoryUrl,
      agent,
      signal: AbortSignal.any([signal, deadline.signal]),
      requestMs: limits.requestMs,
      clock,
      name,
      retryAfterMs: null,
      nonceRefused: false,
    };
    let validationSpent = false;
    const failuresElsewhere = new Set<unknown>();
    const session: AcmeSession = {
      acme,
      signal: here.signal,
      retryAfterMs: () => here.retryAfterMs,
      within: (promise) => untilAborted(promise, here.signal),
      elsewhere: (promise) =>
        untilAborted(promise, here.signal).catch((error: unknown) => {
          failuresElsewhere.add(error);
          throw error;
        }),
      validationRequested: () => {
        validationSpent = true;
      },
    };
    try {
      return await requestContext.run(here, () => work(session));
    } catch (error) {
      signal.throwIfAborted();
      if (failuresElsewhere.has(error) && !deadline.signal.aborted) throw error;
      const refusal = refusalFor(error);
      throw validationSpent ? afterValidation(refusal) : refusal;
    } finally {
      clearTimeout(timer);
      agent.destroy();
    }

    function refusalFor(error: unknown): AcmeRefusal {
      if (deadline.signal.aborted) {
        return unusable(directoryUrl, `it did not finish within ${limits.totalMs / 1000} s`, error);
      }
      if (error instanceof AcmeRefusal) return error;
      if (here.nonceRefused) return refusalOf({ type: `${ERROR_NAMESPACE}badNonce`, detail: '' }, name);
      return unreachable(directoryUrl, error);
    }
  };
}

async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(signal.reason);
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
