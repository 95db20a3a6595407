import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP } from 'node:net';
import { codeOf } from '../../lib/error-code.ts';
import { hostAndPort } from '../../lib/host-and-port.ts';
import { bareHost } from '../../lib/host-names.ts';
import { type ConnectionProblem, connectionProblem, connectionSentence } from './connection-problem.ts';
import { isRedirect, locationText, ProbeFailure, type ProbeResponse } from './probe-response.ts';
import { timeLimit } from './time-limit.ts';
import { quotable } from './untrusted-text.ts';

/** Ports for URLs that do not name one. */
export interface WebPorts {
  http: number;
  https: number;
}

export interface GetOptions {
  ports: WebPorts;
  /** Largest body to read. The connection is closed after that many bytes. */
  maxBytes: number;
  /** Milliseconds from the start to the last byte. */
  limitMs: number;
}

/**
 * Sends one GET for an http or https URL to exactly this IP address. Looks up no name, so the connection goes to the
 * address that was checked. Throws ProbeFailure.
 */
export async function getAt(
  url: URL,
  address: string,
  signal: AbortSignal,
  { ports, maxBytes, limitMs }: GetOptions,
): Promise<ProbeResponse> {
  const port = url.port === '' ? (url.protocol === 'https:' ? ports.https : ports.http) : Number(url.port);
  const limit = timeLimit(signal, limitMs);
  try {
    const response = await send(url, address, port, limit.signal);
    const status = response.statusCode ?? 0;
    const redirects = isRedirect(status, response.headers.location);
    return {
      status,
      headers: joined(response.headersDistinct),
      // The body of a redirect may be endless, and browsers do not show it.
      body: redirects ? leaveUnread(response) : await beginning(response, maxBytes),
      location: redirects ? URL.parse(locationText(response.headers.location ?? ''), url.href) : null,
    };
  } catch (error) {
    const problem = limit.signal.aborted ? 'timeout' : connectionProblem(error);
    throw probeFailure(
      error,
      problem,
      url,
      `${quotable(bareHost(url.hostname))} at ${hostAndPort({ host: address, port })}`,
    );
  } finally {
    limit.end();
  }
}

/** Throws ProbeFailure for a URL that is not http or https, or that contains a user name or password. */
export function refuseUnsafeUrl(url: URL): void {
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new ProbeFailure(
      'bad_redirect',
      `${quotable(url.href)} is not a web address; redirect to an address that begins with https:// instead.`,
    );
  }
  if (url.username !== '' || url.password !== '') {
    throw new ProbeFailure(
      'bad_redirect',
      `The address on ${quotable(url.host)} contains a user name or password; remove it from the redirect.`,
    );
  }
}

/** The only ports to which certificate authorities follow redirects. */
const WEB_PORTS = [80, 443];

/**
 * Whether the URL names no port or a web port. A redirect to any other port could make Homeport scan ports for an
 * attacker, or send commands to an internal service.
 */
export function isWebPort(url: URL, { http, https }: WebPorts): boolean {
  return url.port === '' || [...WEB_PORTS, http, https].includes(Number(url.port));
}

export function portRefused(url: URL): ProbeFailure {
  return new ProbeFailure(
    'bad_redirect',
    `${quotable(url.href)} uses port ${url.port}, which is not a web port; redirect to port 80 or 443 instead.`,
  );
}

function send(url: URL, address: string, port: number, signal: AbortSignal): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
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
  request.on('response', resolve);
  request.on('upgrade', (_response, socket) => {
    socket.destroy();
    reject(new ProbeFailure('not_http', 'switched protocols without a request to do so'));
  });
  request.on('error', reject);
  // For a connection that ends without a response or an error. After either, it changes nothing.
  request.on('close', () =>
    reject(Object.assign(new Error('closed without an answer'), { code: 'ECONNRESET' })),
  );
  request.end();
  return promise;
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

function leaveUnread(response: IncomingMessage): string {
  // Destroying the response before its end raises an error that does not matter here.
  response.on('error', () => {});
  response.destroy();
  return '';
}

function joined(headers: NodeJS.Dict<string[]>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, values = []]) => [name, values.join(', ')]));
}

function probeFailure(
  error: unknown,
  problem: ConnectionProblem | null,
  url: URL,
  where: string,
): ProbeFailure {
  if (problem !== null) {
    return new ProbeFailure(problem, connectionSentence(problem, where), { cause: error });
  }
  if (url.protocol === 'https:' && isOfTls(codeOf(error))) {
    return new ProbeFailure(
      'tls',
      `${where} does not complete a TLS handshake; check that HTTPS is set up for this name and port.`,
      { cause: error },
    );
  }
  return new ProbeFailure(
    'not_http',
    `${where} does not answer with HTTP; check which service listens on this port.`,
    { cause: error },
  );
}

function isOfTls(code = ''): boolean {
  return code.startsWith('ERR_SSL_') || code.startsWith('ERR_TLS_') || code === 'EPROTO';
}
