import { Agent, type Dispatcher, request } from 'undici';
import { codeOf } from '../../lib/error-code.ts';
import type { ProxyVariables } from '../../lib/outbound-proxy.ts';
import { type DnsResolver, NameNotResolved } from '../dns/resolver.ts';
import type { AddressPolicy } from '../probe/address-policy.ts';
import { connectionProblem, connectionSentence } from '../probe/connection-problem.ts';
import { printable, quotable } from '../probe/untrusted-text.ts';
import { AddressRefused, checkedConnector, ProxyRefused } from './checked-connector.ts';
import { signatureHeader } from './signature.ts';

/** A message for a receiver, with the secrets that sign it. */
export interface Message {
  url: string;
  id: string;
  /** Seconds since the epoch. */
  timestamp: number;
  body: string;
  secrets: readonly string[];
}

/** The result of one request. `error`: one sentence; null for a 2xx answer. */
export interface Attempt {
  status: number | null;
  /** The beginning of the answer, printable. */
  responseBody: string | null;
  error: string | null;
  durationMs: number;
  /** Seconds that the receiver asked to wait (Retry-After). */
  retryAfterSeconds: number | null;
  timedOut: boolean;
}

export interface PostOptions {
  resolver: DnsResolver;
  mayContact: AddressPolicy;
  /** Default: none. */
  proxy?: ProxyVariables;
  /** Milliseconds from the start to the last byte. */
  limitMs?: number;
}

const LIMIT_MS = 10_000;
const CONNECTIONS_PER_ORIGIN = 64;
const KEEP_ALIVE_MS = 15_000;
/** The connection of a longer answer is closed. */
const MOST_BYTES = 64 * 1024;
const SHOWN_CHARACTERS = 500;

/** Sends messages to receivers over kept connections. */
export interface Poster {
  post(message: Message): Promise<Attempt>;
  close(): Promise<void>;
}

export function createPoster({ resolver, mayContact, proxy = {}, limitMs = LIMIT_MS }: PostOptions): Poster {
  const agent = new Agent({
    connections: CONNECTIONS_PER_ORIGIN,
    pipelining: 1,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
    connect: checkedConnector({ resolver, mayContact, proxy, limitMs }),
  });

  return {
    async post({ url, id, timestamp, body, secrets }) {
      const startedAt = performance.now();
      const signal = AbortSignal.timeout(limitMs);
      const ended = (attempt: Omit<Attempt, 'durationMs' | 'timedOut'>, timedOut = false): Attempt => ({
        ...attempt,
        durationMs: Math.round(performance.now() - startedAt),
        timedOut,
      });
      try {
        const answer = await request(url, {
          dispatcher: agent,
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            'user-agent': 'Homeport webhooks',
            'webhook-id': id,
            'webhook-timestamp': String(timestamp),
            'webhook-signature': signatureHeader(secrets, { id, timestamp, body }),
          },
          body,
          signal,
          headersTimeout: limitMs,
          bodyTimeout: limitMs,
        });
        const responseBody = await beginning(answer.body);
        const { statusCode: status, headers } = answer;
        return ended({
          status,
          responseBody,
          error: errorOf(status),
          retryAfterSeconds: secondsOf(headers['retry-after']),
        });
      } catch (error) {
        return ended(
          {
            status: null,
            responseBody: null,
            error: sentenceOf(error, url, signal.aborted),
            retryAfterSeconds: null,
          },
          signal.aborted || connectionProblem(error) === 'timeout',
        );
      }
    },
    close: () => agent.destroy(),
  };
}

/** Reads the whole answer, so that its connection can be used again; at most {@link MOST_BYTES} of it. */
async function beginning(body: Dispatcher.ResponseData['body']): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body) {
    if (!Buffer.isBuffer(chunk)) continue;
    if (length < SHOWN_CHARACTERS * 4) chunks.push(chunk);
    length += chunk.length;
    // Leaving the loop closes the connection.
    if (length > MOST_BYTES) break;
  }
  if (chunks.length === 0) return '';
  return [
    ...printable(
      Buffer.concat(chunks)
        .subarray(0, SHOWN_CHARACTERS * 4)
        .toString('utf8'),
    ),
  ]
    .slice(0, SHOWN_CHARACTERS)
    .join('');
}

function errorOf(status: number): string | null {
  if (status >= 200 && status < 300) return null;
  if (status >= 300 && status < 400) return `The receiver answered ${status}; redirects are not followed.`;
  return `The receiver answered ${status}.`;
}

function secondsOf(header: string | string[] | undefined): number | null {
  return typeof header === 'string' && /^\d{1,6}$/.test(header) ? Number(header) : null;
}

/** Describes the failure without path and query of the URL, which can be secrets. */
function sentenceOf(error: unknown, url: string, timedOut: boolean): string {
  const { host } = new URL(url);
  if (error instanceof AddressRefused || error instanceof ProxyRefused || error instanceof NameNotResolved) {
    return error.message;
  }
  const problem = timedOut ? 'timeout' : (timeoutOf(error) ?? connectionProblem(error));
  if (problem !== null) return connectionSentence(problem, quotable(host));
  if (isOfTls(codeOf(error) ?? '')) {
    return `The certificate of ${quotable(host)} is not trusted, or the TLS handshake failed.`;
  }
  return `${quotable(host)} did not answer with HTTP.`;
}

/** undici's own timeouts, and a connection that the receiver closed. */
function timeoutOf(error: unknown): 'timeout' | 'reset' | null {
  const code = codeOf(error) ?? '';
  if (/^UND_ERR_(CONNECT|HEADERS|BODY)_TIMEOUT$/.test(code)) return 'timeout';
  return code === 'UND_ERR_SOCKET' ? 'reset' : null;
}

/** Node's codes for TLS, and OpenSSL's for chains that cannot be verified. */
function isOfTls(code: string): boolean {
  return (
    /^(ERR_SSL_|ERR_TLS_|CERT_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_)/.test(code) ||
    code === 'EPROTO' ||
    code === 'HOSTNAME_MISMATCH'
  );
}
