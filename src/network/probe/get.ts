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

/** The ports that stand for http and https where a URL names none. */
export interface WebPorts {
  http: number;
  https: number;
}

export interface GetOptions {
  ports: WebPorts;
  /** Of the body; the connection is closed when so many bytes have come. */
  maxBytes: number;
  /** Milliseconds from the start to the last byte. */
  limitMs: number;
}

/**
 * One GET of an http or https URL at exactly this IP address. Nothing is looked up, so what was checked is what is
 * connected to. Throws VisitFailure.
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
      // The body of a redirect may be endless too, and nobody sees it.
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

/** Throws for a URL that is no web server's, or that holds a password which somebody chose for it. */
export function refuseUnsafeUrl(url: URL): void {
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new ProbeFailure(
      'bad_redirect',
      `${quotable(url.href)} is no web address; make the redirect go to one that begins with https://.`,
    );
  }
  if (url.username !== '' || url.password !== '') {
    throw new ProbeFailure(
      'bad_redirect',
      `The address to open on ${quotable(url.host)} holds a user name or password; take it out of the redirect.`,
    );
  }
}

/** The ports that an authority follows redirects to, and no others. */
const WEB_PORTS = [80, 443];

/**
 * Whether the URL names no port, or one of the web. At any other a redirect would have Homeport find out for a stranger
 * what listens there, or say something to a service that acts on it.
 */
export function isWebPort(url: URL, { http, https }: WebPorts): boolean {
  return url.port === '' || [...WEB_PORTS, http, https].includes(Number(url.port));
}

export function portRefused(url: URL): ProbeFailure {
  return new ProbeFailure(
    'bad_redirect',
    `${quotable(url.href)} names port ${url.port}, which is none of the web; make the redirect go to port 80 or 443.`,
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
    // Each visit is a connection of its own: one that is kept could lead to an address checked long ago.
    agent: false,
    signal,
  };
  const request =
    url.protocol === 'https:'
      ? requestHttps({
          ...options,
          // SNI is for names only (RFC 6066 section 3).
          servername: isIP(host) === 0 ? host : '',
          // No secret is sent and nothing that comes back is believed; what visitors' browsers think of the certificate
          // is told by a handshake of its own, and the site must be seen through a bad certificate too.
          rejectUnauthorized: false,
        })
      : requestHttp(options);
  request.on('response', resolve);
  request.on('upgrade', (_response, socket) => {
    socket.destroy();
    reject(new ProbeFailure('not_http', 'switched protocols without being asked'));
  });
  request.on('error', reject);
  // Whatever ends it without an answer or an error of its own; after one of these it changes nothing.
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
  // Destroying it before its end is an error to it, and none to us.
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
      `${where} does not make a TLS connection; check that HTTPS is set up for this name and port.`,
      { cause: error },
    );
  }
  return new ProbeFailure(
    'not_http',
    `${where} answers with something that is not HTTP; check which service listens on this port.`,
    { cause: error },
  );
}

function isOfTls(code = ''): boolean {
  return code.startsWith('ERR_SSL_') || code.startsWith('ERR_TLS_') || code === 'EPROTO';
}
