import { AsyncLocalStorage } from 'node:async_hooks';
import { Agent } from 'node:https';
import { createSecureContext, rootCertificates, type SecureContext } from 'node:tls';
import type { Clock } from '../../lib/clock.ts';
import { parseProblem, refusalOf } from './problem.ts';
import { AcmeRefusal, afterValidation, ERROR_NAMESPACE } from './refusal.ts';
import { unreachable, unusable } from './unreachable.ts';
import { retryAfterMs } from './wire.ts';

/** The library, as loaded. */
export type AcmeClient = typeof import('acme-client');

export interface SessionLimits {
  /** Longest time of one request. */
  requestMs: number;
  /** Longest time of a whole exchange. */
  totalMs: number;
}

/** One task with the authority: what it may use while it lasts. */
export interface AcmeSession {
  acme: AcmeClient;
  /** Aborts when the caller aborts, or the exchange has lasted too long. */
  signal: AbortSignal;
  /** What the last answer's Retry-After asked for, in ms. */
  retryAfterMs(): number | null;
  /** What `work` comes to; rejects at once when the exchange is aborted, though the work may not have ended. */
  within<T>(work: Promise<T>): Promise<T>;
  /** The same for what is done elsewhere meanwhile: its failure is no fault of the authority and is thrown as it is. */
  elsewhere<T>(work: Promise<T>): Promise<T>;
  /** From now on the authority may have looked at the name: every refusal says so. */
  validationRequested(): void;
}

/** Runs `work` as one exchange. `name` is the host name it is about, null if it is about the account. */
export type RunSession = <T>(
  about: { name: string | null; signal: AbortSignal },
  work: (session: AcmeSession) => Promise<T>,
) => Promise<T>;

/** What holds for every request of the exchange that it belongs to. */
interface RequestContext {
  directoryUrl: string;
  agent: Agent;
  signal: AbortSignal;
  requestMs: number;
  clock: Clock;
  name: string | null;
  retryAfterMs: number | null;
  /** A nonce was refused; set back by the next answer that is no such refusal. */
  nonceRefused: boolean;
}

/** A certificate chain is some KB. */
const MAX_RESPONSE_BYTES = 1024 * 1024;

// acme-client takes neither a CA nor a signal, and all its clients share one HTTP client: what a request needs is found
// by the exchange that it is made in, so that two authorities in a process keep apart.
const requestContext = new AsyncLocalStorage<RequestContext>();

let loading: Promise<AcmeClient> | undefined;

/** Loading it takes 200 ms and 40 MB, and a platform without an authority never needs it. */
function load(): Promise<AcmeClient> {
  loading ??= import('acme-client').then(prepare);
  return loading;
}

/**
 * Its own interceptors go: they repeat a request up to five times and sleep for as long as Retry-After says, hours
 * where a limit is reached, and they lose the cause of a failed connection. When to try again is for the caller to say.
 */
function prepare(acme: AcmeClient): AcmeClient {
  const { interceptors } = acme.axios;
  interceptors.request.clear();
  interceptors.response.clear();
  interceptors.request.use((config) => {
    const here = requestContext.getStore();
    if (here === undefined) throw new Error('a request to the authority was made outside an exchange');
    // RFC 8555 section 6.1. The addresses come from the authority.
    if (!config.url?.startsWith('https:'))
      throw unusable(here.directoryUrl, 'it uses addresses without HTTPS');
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
    if (here === undefined) throw new Error('an answer of the authority came outside an exchange');
    here.retryAfterMs = retryAfterMs(headerOf(response.headers, 'retry-after'), here.clock.now());
    here.nonceRefused = false;
    if (response.status < 300) return response;
    const problem = parseProblem(response.data);
    if (problem === null) throw unusable(here.directoryUrl, `it answers with HTTP status ${response.status}`);
    // acme-client takes the fresh nonce of the answer and asks again (RFC 8555 section 6.5).
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
 * How to talk to one authority. Whatever goes wrong below ACME becomes an AcmeRefusal `unreachable`; when the caller's
 * signal aborts, its reason is thrown. `ca`: PEM trusted besides the well-known roots, for this authority alone.
 */
export function createSessions(
  { directoryUrl, ca }: { directoryUrl: string; ca: string | null },
  { clock, limits }: { clock: Clock; limits: SessionLimits },
): RunSession {
  let trust: SecureContext | undefined;

  function createAgent(): Agent {
    if (ca === null) return new Agent({ keepAlive: true });
    // Reading some 150 roots takes a while; once is enough.
    trust ??= createSecureContext({ ca: [...rootCertificates, ca] });
    return new Agent({ keepAlive: true, secureContext: trust });
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
        return unusable(directoryUrl, `it was not done after ${limits.totalMs / 1000} s`, error);
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
