import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP } from 'node:net';
import '../../lib/certificates/safe-peer-certificate.ts';
import { codeOf } from '../../lib/error-code.ts';
import { hostAndPort } from '../../lib/host-and-port.ts';
import { bareHost } from '../../lib/host-names.ts';
import { type ConnectionProblem, connectionProblem, connectionSentence } from './connection-problem.ts';
import { isRedirect, locationText, type ProbeProblem, type ProbeResponse } from './probe-response.ts';
import { leaveUnread, responseTo } from './response-to.ts';
import { timeLimit } from './time-limit.ts';
import { quotable } from './untrusted-text.ts';
import type { WebPorts } from './web-urls.ts';

export interface GetRequest {
  url: string;
  /** An IP address. */
  address: string;
  ports: WebPorts;
  /** Largest body to read. The connection is closed after that many bytes. */
  maxBytes: number;
  /** Milliseconds from the start to the last byte. */
  limitMs: number;
}

/** A response, or why there is none. */
export type GetOutcome =
  | { response: Omit<ProbeResponse, 'location'> & { location: string | null } }
  | { failure: { problem: ProbeProblem; message: string } };

/**
 * Sends one GET for an http or https URL to exactly this IP address. Looks up no name, so the connection goes to the
 * address that was checked. Never throws. A task of the strangers' process: nothing else loads this module.
 */
export async function getAt(
  { url: href, address, ports, maxBytes, limitMs }: GetRequest,
  signal: AbortSignal,
): Promise<GetOutcome> {
  const url = new URL(href);
  const port = url.port === '' ? (url.protocol === 'https:' ? ports.https : ports.http) : Number(url.port);
  const limit = timeLimit(signal, limitMs);
  try {
    const response = await send(url, address, port, limit.signal);
    const status = response.statusCode ?? 0;
    const redirects = isRedirect(status, response.headers.location);
    return {
      response: {
        status,
        headers: joined(response.headersDistinct),
        // The body of a redirect may be endless, and browsers do not show it.
        body: redirects ? leaveUnread(response) : await beginning(response, maxBytes),
        location: redirects
          ? (URL.parse(locationText(response.headers.location ?? ''), url.href)?.href ?? null)
          : null,
      },
    };
  } catch (error) {
    const problem = limit.signal.aborted ? 'timeout' : connectionProblem(error);
    const where = `${quotable(bareHost(url.hostname))} at ${hostAndPort({ host: address, port })}`;
    return { failure: failureOf(error, problem, url, where) };
  } finally {
    limit.end();
  }
}

function send(url: URL, address: string, port: number, signal: AbortSignal): Promise<IncomingMessage> {
  const host = bareHost(url.hostname);
  const options = {
    host: address,
    port,
    method: 'GET',
    path: `${url.pathname}${url.search}`,
    headers: {
      host: url.host,
      'user-agent': 'Homeport domain check',
      accept: '*/*',
      // The body is compared byte by byte and cut anywhere.
      'accept-encoding': 'identity',
      connection: 'close',
    },
    // A new connection for each request: a kept one could lead to an address that was checked long ago.
    agent: false,
    signal,
  };
  const request =
    url.protocol === 'https:'
      ? requestHttps({
          ...options,
          // SNI is for names only (RFC 6066 section 3).
          servername: isIP(host) === 0 ? host : '',
          // The request holds no secret and the response is not trusted. A separate handshake checks the certificate,
          // and the site must be visible behind a bad one, too.
          rejectUnauthorized: false,
        })
      : requestHttp(options);
  return responseTo(request);
}

async function beginning(response: IncomingMessage, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  // Leaving the loop destroys the response and with it the connection.
  for await (const chunk of response) {
    if (!Buffer.isBuffer(chunk)) continue;
    chunks.push(chunk);
    length += chunk.length;
    if (length >= maxBytes) break;
  }
  return Buffer.concat(chunks).subarray(0, maxBytes).toString('utf8');
}

function joined(headers: NodeJS.Dict<string[]>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, values = []]) => [name, values.join(', ')]));
}

function failureOf(
  error: unknown,
  problem: ConnectionProblem | null,
  url: URL,
  where: string,
): { problem: ProbeProblem; message: string } {
  if (problem !== null) return { problem, message: connectionSentence(problem, where) };
  if (url.protocol === 'https:' && isOfTls(codeOf(error))) {
    return {
      problem: 'tls',
      message: `${where} does not complete a TLS handshake; check that HTTPS is set up for this name and port.`,
    };
  }
  return {
    problem: 'not_http',
    message: `${where} does not answer with HTTP; check which service listens on this port.`,
  };
}

function isOfTls(code = ''): boolean {
  return code.startsWith('ERR_SSL_') || code.startsWith('ERR_TLS_') || code === 'EPROTO';
}
