import {
  type ClientRequest,
  type Agent as HttpAgent,
  type IncomingMessage,
  request as requestHttp,
} from 'node:http';
import { type Agent as HttpsAgent, request as requestHttps } from 'node:https';
import type { Readable } from 'node:stream';
import { TLSSocket } from 'node:tls';
import { createGunzip } from 'node:zlib';
import '../../lib/certificates/safe-peer-certificate.ts';
import { type ConnectionProblem, connectionProblem } from './connection-problem.ts';
import { isRedirect, locationText } from './probe-response.ts';
import { leaveUnread, responseTo } from './response-to.ts';
import { timeLimit } from './time-limit.ts';

/** One request to the platform's own web server, whatever the name in the URL leads to in the DNS. */
export interface EdgeRequest {
  url: URL;
  address: string;
  port: number;
  /**
   * `page`: GET, as visitors do. `cached`: HEAD, which the edge answers without PHP, with 504 if it has no page (RFC 9111 section 5.2.1.7).
   */
  wanted: 'page' | 'cached';
  /** Milliseconds from the start to the last byte. */
  limitMs: number;
  /** Keeps connections for further requests. Without one, each request has its own connection. */
  agent?: HttpAgent | HttpsAgent;
}

/** The answer to a request. */
export interface EdgeAnswer {
  status: number;
  /** Target of a redirect; null for other answers and for an invalid URL. */
  location: URL | null;
  isRedirect: boolean;
  retryAfter: string | null;
  /** The first part of the page, decompressed. */
  body: string;
  /** When the served certificate ends; null over HTTP, and for requests with an agent. */
  certificateEndsAt: Date | null;
}

/** An answer, or why there is none. */
export type EdgeOutcome = EdgeAnswer | { problem: ConnectionProblem | 'tls' | 'not_http' };

/** A page of WordPress with its styles is smaller. */
const MOST_BYTES = 512 * 1024;
/** Ends with a word that lists of bots know, so that no request counts as a visit. */
export const USER_AGENT = 'Mozilla/5.0 (compatible; Homeport-Uptime/1.0; bot)';

/** Asks the edge. Does not verify the certificate or follow redirects. Never throws. */
export async function askEdge(asked: EdgeRequest, signal: AbortSignal): Promise<EdgeOutcome> {
  const limit = timeLimit(signal, asked.limitMs);
  const ended: { certificateEndsAt: Date | null } = { certificateEndsAt: null };
  try {
    const response = await send(asked, limit.signal, ended);
    const status = response.statusCode ?? 0;
    const { location, 'retry-after': retryAfter = null } = response.headers;
    const redirects = isRedirect(status, location);
    return {
      status,
      isRedirect: redirects,
      location: redirects ? URL.parse(locationText(location ?? ''), asked.url.href) : null,
      retryAfter,
      body:
        // A body that is not read ends the connection, which others share.
        redirects && asked.wanted === 'page'
          ? leaveUnread(response)
          : await beginningOf(response, asked.wanted === 'page'),
      certificateEndsAt: ended.certificateEndsAt,
    };
  } catch (error) {
    if (limit.signal.aborted) return { problem: 'timeout' };
    return { problem: connectionProblem(error) ?? (asked.url.protocol === 'https:' ? 'tls' : 'not_http') };
  } finally {
    limit.end();
  }
}

function send(
  { url, address, port, wanted, agent }: EdgeRequest,
  signal: AbortSignal,
  ended: { certificateEndsAt: Date | null },
): Promise<IncomingMessage> {
  const options = {
    host: address,
    port,
    method: wanted === 'page' ? 'GET' : 'HEAD',
    path: `${url.pathname}${url.search}`,
    headers: {
      host: url.host,
      'user-agent': USER_AGENT,
      accept: 'text/html,*/*;q=0.8',
      'accept-encoding': 'gzip',
      ...(wanted === 'page' ? {} : { 'cache-control': 'only-if-cached' }),
    },
    agent: agent ?? false,
    signal,
  };
  const request: ClientRequest =
    url.protocol === 'https:'
      ? requestHttps({ ...options, servername: url.hostname, rejectUnauthorized: false })
      : requestHttp(options);
  request.on('socket', (socket) => {
    // Other requests share the connection of an agent, and its certificate is that of the first one.
    if (agent !== undefined || !(socket instanceof TLSSocket)) return;
    socket.once('secureConnect', () => {
      ended.certificateEndsAt = socket.getPeerX509Certificate()?.validToDate ?? null;
    });
  });
  return responseTo(request);
}

async function beginningOf(response: IncomingMessage, hasBody: boolean): Promise<string> {
  const isCompressed = hasBody && response.headers['content-encoding'] === 'gzip';
  const content: Readable = isCompressed ? response.pipe(createGunzip()) : response;
  const fail = (error: Error) => content.destroy(error);
  if (isCompressed) response.on('error', fail);
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of content) {
      if (!Buffer.isBuffer(chunk)) continue;
      chunks.push(chunk);
      length += chunk.length;
      if (length >= MOST_BYTES) break;
    }
  } finally {
    if (!response.complete) leaveUnread(response);
  }
  return Buffer.concat(chunks).subarray(0, MOST_BYTES).toString('utf8');
}
