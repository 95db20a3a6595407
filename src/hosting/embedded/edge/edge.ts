import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { Duplex } from 'node:stream';
import type { Logger } from 'pino';
import type { Clock } from '../../../lib/clock.ts';
import { type Repetition, repeatEvery } from '../../../lib/concurrency.ts';
import { HOUR_MS } from '../../../lib/durations.ts';
import { hasCode } from '../../../lib/error-code.ts';
import { namesOneHost } from '../../../lib/one-host.ts';
import { HTTP_OVER_TLS, limitConnections } from '../../../network/connections/http-connections.ts';
import {
  drainable,
  IDLE_MS,
  type ListenAddress,
  listen,
  SERVER_LIMITS,
} from '../../../network/connections/listener.ts';
import type { SocketLimiter } from '../../../network/connections/socket-limiter.ts';
import type { ObjectStorage } from '../../../network/object-storage/object-storage.ts';
import { ACME_CHALLENGE_PREFIX } from '../../contract/host.ts';
import { isInRanges } from '../../policy/address-ranges.ts';
import { hasChallengePrefix } from '../../policy/challenge-rules.ts';
import { isDenied } from '../../policy/deny-rules.ts';
import { MARKER_PREFIX, type Marker, markerText, parseMarker } from '../../policy/marker.ts';
import { NOTICES } from '../../policy/pages.ts';
import { hasPatterns, type MatchPattern, pathRedirect } from '../../policy/path-redirects.ts';
import { loadPatternEngine } from '../../policy/pattern-engine.ts';
import type { Scheme } from '../../policy/redirects.ts';
import type { Vhost } from '../host-folder/vhost.ts';
import type { ChallengeFiles } from './challenge-files.ts';
import type { EdgeCertificate } from './edge-certificate.ts';
import { type Exchange, sendNotice, sendRedirect } from './exchange.ts';
import type { LiveVhosts } from './live-vhosts.ts';
import { offloadedTo, serveObject } from './offload.ts';
import { type EdgePorts, isOwnAddress, redirectFor } from './redirects.ts';
import {
  isHidden,
  parseSitePath,
  parseTarget,
  type RequestTarget,
  type SitePath,
  uriOf,
} from './request-target.ts';
import type { ResponseMeter } from './response-meter.ts';
import { type HostHeader, parseHost, type Route } from './routing.ts';
import type { ServedCertificates } from './served-certificates.ts';
import type { NoFile, StaticFiles } from './static-files.ts';
import { createVisitorLogins } from './visitor-logins.ts';

/** Serves the hosted names on an HTTP and an HTTPS address. */
export interface Edge {
  /** Binds both addresses. Rejects with a sentence naming the setting if an address cannot be bound. */
  start(): Promise<{ http: ListenAddress; https: ListenAddress }>;
  /** Finishes active requests, and cuts those that take too long. */
  stop(): Promise<void>;
}

export interface EdgeOptions {
  http: ListenAddress;
  https: ListenAddress;
  vhosts: LiveVhosts;
  files: StaticFiles;
  certificates: ServedCertificates;
  proofs: ChallengeFiles;
  own: EdgeCertificate;
  objectStorage: ObjectStorage;
  /** Over both addresses. */
  connections: SocketLimiter;
  /** Counts the traffic of each website. */
  meter: ResponseMeter;
  /** The visitor's address. */
  visitorOf(request: IncomingMessage): string | undefined;
  log: Logger;
  clock: Clock;
  /** Time for active requests to finish after a stop, in milliseconds. */
  graceMs: number;
}

const WELL_KNOWN = '/.well-known/';
const NO_PATTERNS: MatchPattern = () => null;
const ALLOWED = 'GET, HEAD, OPTIONS';
const CERTIFICATE_CHECK_MS = HOUR_MS;
const TLS_HANDSHAKE_MS = 10_000;
/** Time for the response to an unreadable request to reach its client. */
const LINGER_MS = 1_000;

export function createEdge(options: EdgeOptions): Edge {
  const { vhosts, files, certificates, proofs, own, objectStorage, meter, log, clock } = options;
  const logins = createVisitorLogins({ clock });
  const ports: EdgePorts = { http: 0, https: 0 };
  let stopping = false;
  let renewals: Repetition | undefined;

  /** Handles a request; the checks run top to bottom. */
  async function answer(scheme: Scheme, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const target = parseTarget(request.url ?? '');
    if (target === null || !namesOneHost(request)) {
      return sendNotice({ response }, NOTICES.badRequest, { Connection: 'close' });
    }
    const host = parseHost(target.authority ?? request.headers.host);
    if (target.path.startsWith(WELL_KNOWN) && (await answerWellKnown(request, response, host, target)))
      return;

    const route = host === null ? undefined : await routeTo(host);
    if (host === null || route === undefined) return sendNotice({ response }, NOTICES.noWebsite);
    meter.assign(response, route.vhost.id);
    const address = options.visitorOf(request);
    if (isInRanges(route.vhost.blocked, address)) return sendNotice({ response }, NOTICES.blocked);

    const { method } = request;
    if (method === 'OPTIONS') {
      response.writeHead(204, { Allow: ALLOWED }).end();
      return;
    }
    if (method !== 'GET' && method !== 'HEAD') {
      // Closed, because the rest of the request is not read.
      return sendNotice({ response }, NOTICES.method, { Allow: ALLOWED, Connection: 'close' });
    }
    const location = redirectFor(route, { scheme, ...host }, target, ports, clock.now());
    if (location !== null) return sendRedirect({ response }, location);
    if (route.vhost.noindex === 'all' || route.rule.default) response.setHeader('X-Robots-Tag', 'noindex');
    if (await isRefused(request, response, route.vhost, address)) return;

    const path = parseSitePath(target.path);
    if (path === null) return sendNotice({ response }, NOTICES.badRequest);
    const { redirects } = route.vhost;
    const match = hasPatterns(redirects) ? await loadPatternEngine() : NO_PATTERNS;
    const redirect = pathRedirect(redirects, uriOf(path), target.query.slice(1), match);
    if (redirect !== null && !isOwnAddress(redirect.to, { scheme, ...host }, target)) {
      return sendRedirect({ response }, redirect.to, redirect.status);
    }
    await answerWithContent({ request, response, method, target }, route.vhost, path);
  }

  /** Whether the request was answered, because the visitor must enter a password first. */
  async function isRefused(
    request: IncomingMessage,
    response: ServerResponse,
    vhost: Vhost,
    address: string | undefined,
  ): Promise<boolean> {
    if (vhost.protect === null) return false;
    const refusal = await logins.refusal(vhost, request.headers.authorization, address);
    if (refusal === null) return false;
    if (refusal.status === 429) {
      sendNotice({ response }, NOTICES.tooMany, { 'Retry-After': refusal.retryAfter });
    } else {
      const challenge = `Basic realm="${refusal.realm}", charset="UTF-8"`;
      sendNotice({ response }, NOTICES.protected, { 'WWW-Authenticate': challenge });
    }
    return true;
  }

  /** Answers well-known paths of the edge (RFC 8615). Returns false if the path is not one of them. */
  async function answerWellKnown(
    { method }: IncomingMessage,
    response: ServerResponse,
    host: HostHeader | null,
    { path }: RequestTarget,
  ): Promise<boolean> {
    if (path.startsWith(MARKER_PREFIX)) {
      answerMarker(response, host, parseMarker(path));
      return true;
    }
    if (!hasChallengePrefix(path)) return false;
    const reads = method === 'GET' || method === 'HEAD';
    const text = reads && host !== null ? await proofs.textFor(host.name, path) : null;
    if (text !== null) sendText(response, text);
    // A customer's ACME client may write its responses to files.
    else if (path.startsWith(ACME_CHALLENGE_PREFIX)) return false;
    else sendNotice({ response }, NOTICES.notFound);
    return true;
  }

  // Known names, which are nearly all, take no extra turn of the event loop.
  function routeTo({ name }: HostHeader): Route | undefined | Promise<Route | undefined> {
    return vhosts.known(name) ?? vhosts.find(name);
  }

  function answerMarker(response: ServerResponse, host: HostHeader | null, marker: Marker | null): void {
    if (marker !== null) vhosts.refresh(marker.installId);
    const vhost = host === null ? undefined : vhosts.known(host.name)?.vhost;
    if (marker === null || vhost?.id !== marker.installId || vhost.revision !== marker.revision) {
      sendNotice({ response }, NOTICES.notFound);
      return;
    }
    sendText(response, markerText(marker));
  }

  async function answerWithContent(exchange: Exchange, vhost: Vhost, path: SitePath): Promise<void> {
    if (isHidden(path.relative) || isDenied(vhost.deny, uriOf(path)))
      return answerWithoutFile(exchange, vhost, { kind: 'missing', cache: 'MISS' });
    const storageFailed = await answerFromStorage(exchange, vhost, path);
    if (storageFailed === null) return;
    const noFile = await files.serve(exchange, vhost, path);
    if (noFile === null) return;
    if (storageFailed && noFile.kind === 'missing') sendNotice(exchange, NOTICES.storage);
    else await answerWithoutFile(exchange, vhost, noFile);
  }

  /** Null if the object was sent; otherwise whether the storage failed. */
  async function answerFromStorage(
    exchange: Exchange,
    vhost: Vhost,
    path: SitePath,
  ): Promise<boolean | null> {
    const offloaded = offloadedTo(vhost.offload, path);
    if (offloaded === null) return false;
    try {
      return (await serveObject(exchange, offloaded, objectStorage)) ? null : false;
    } catch (err) {
      if (exchange.response.headersSent) throw err;
      log.error({ err, install: vhost.id, object: offloaded.object }, 'object storage failed');
      return true;
    }
  }

  async function answerWithoutFile(exchange: Exchange, vhost: Vhost, { kind, cache }: NoFile): Promise<void> {
    const headers = { 'X-Cache': cache };
    if (kind === 'forbidden') return sendNotice(exchange, NOTICES.forbidden, headers);
    if (kind === 'program') return sendNotice(exchange, NOTICES.program, headers);
    if (!(await files.serveNotFound(exchange, vhost))) sendNotice(exchange, NOTICES.notFound, headers);
  }

  function onRequest(scheme: Scheme) {
    return (request: IncomingMessage, response: ServerResponse): void => {
      if (log.isLevelEnabled('debug')) logWhenDone(scheme, request, response);
      meter.follow(request, response);
      if (stopping) response.setHeader('Connection', 'close');
      answer(scheme, request, response).catch((err: unknown) => onFailure(err, request, response));
    };
  }

  function onFailure(err: unknown, request: IncomingMessage, response: ServerResponse): void {
    const about = { err, host: request.headers.host, url: request.url };
    if (hasCode(err, 'ERR_STREAM_PREMATURE_CLOSE', 'ERR_STREAM_UNABLE_TO_PIPE')) {
      log.debug(about, 'the visitor disconnected before the response was complete');
    } else log.error(about, 'a request could not be answered');
    if (response.headersSent) response.destroy();
    else sendNotice({ response }, NOTICES.failed);
  }

  function logWhenDone(scheme: Scheme, request: IncomingMessage, response: ServerResponse): void {
    const start = performance.now();
    response.once('close', () => {
      log.debug(
        {
          scheme,
          host: request.headers.host,
          method: request.method,
          url: request.url,
          status: response.statusCode,
          cache: response.getHeader('x-cache'),
          ms: Math.round((performance.now() - start) * 100) / 100,
        },
        'request',
      );
    });
  }

  const httpServer = createHttpServer({ ...SERVER_LIMITS }, onRequest('http'));
  const httpsServer = createHttpsServer(
    {
      ...SERVER_LIMITS,
      handshakeTimeout: TLS_HANDSHAKE_MS,
      minVersion: 'TLSv1.2',
      ALPNProtocols: HTTP_OVER_TLS,
      SNICallback: (serverName, done) => {
        certificates.contextFor(serverName).then(
          (context) => done(null, context),
          (err: unknown) => {
            log.error({ err, serverName }, 'no certificate for a handshake');
            done(err instanceof Error ? err : new Error(String(err)));
          },
        );
      },
    },
    onRequest('https'),
  );
  httpsServer.on('tlsClientError', (err, socket) => {
    log.debug({ err }, 'a TLS handshake failed');
    // Node ends its side and waits for the client's, which may never come.
    socket.destroy();
  });
  for (const server of [httpServer, httpsServer]) {
    limitConnections(server, options.connections);
    server.setTimeout(IDLE_MS);
    server.on('clientError', onClientError);
  }

  const drainHttp = drainable(httpServer, 'http');
  const drainHttps = drainable(httpsServer, 'https');

  /** For visitors who send no SNI. */
  async function showOwnCertificate(): Promise<void> {
    const { pem } = await own.present();
    httpsServer.setSecureContext({ cert: pem, key: pem });
  }

  async function stop(): Promise<void> {
    stopping = true;
    void renewals?.stop();
    await Promise.all([drainHttp(options.graceMs), drainHttps(options.graceMs)]);
  }

  return {
    async start() {
      stopping = false;
      await showOwnCertificate();
      renewals = repeatEvery(showOwnCertificate, {
        delayMs: CERTIFICATE_CHECK_MS,
        onError: (err) => log.error({ err }, 'the certificate of the edge cannot be renewed'),
      });
      try {
        const http = await listen(httpServer, options.http, 'HOMEPORT_EDGE_HTTP');
        const https = await listen(httpsServer, options.https, 'HOMEPORT_EDGE_HTTPS');
        Object.assign(ports, { http: http.port, https: https.port });
        return { http, https };
      } catch (error) {
        await stop();
        throw error;
      }
    },
    stop,
  };
}

/** Sends uncached text for programs. */
function sendText(response: ServerResponse, text: string): void {
  response.writeHead(200, {
    'Content-Type': 'text/plain; charset=utf-8',
    'Content-Length': Buffer.byteLength(text),
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
  });
  response.end(text);
}

/** Node found the request unreadable, too large or too slow. */
function onClientError(error: Error, socket: Duplex): void {
  if (!socket.writable || hasCode(error, 'ECONNRESET')) {
    socket.destroy();
    return;
  }
  const status = hasCode(error, 'HPE_HEADER_OVERFLOW')
    ? '431 Request Header Fields Too Large'
    : hasCode(error, 'ERR_HTTP_REQUEST_TIMEOUT')
      ? '408 Request Timeout'
      : '400 Bad Request';
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
  // A client that never closes its side would hold the descriptor.
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}
