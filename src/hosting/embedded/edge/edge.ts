import { constants } from 'node:crypto';
import { createServer as createHttpServer } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { Duplex } from 'node:stream';
import { DEFAULT_CIPHERS } from 'node:tls';
import { type Repetition, repeatEvery } from '../../../lib/concurrency.ts';
import { HOUR_MS, MINUTE_MS } from '../../../lib/durations.ts';
import { hasCode } from '../../../lib/error-code.ts';
import { HTTP_OVER_TLS, limitConnections } from '../../../network/connections/http-connections.ts';
import type { HttpRequest, HttpResponse } from '../../../network/connections/http-messages.ts';
import { HTTP2, serveHttp2 } from '../../../network/connections/http2-connections.ts';
import type { ListenAddress } from '../../../network/connections/inherited-sockets.ts';
import { drainable, IDLE_MS, listen, SERVER_LIMITS } from '../../../network/connections/listener.ts';
import type { SocketLimiter } from '../../../network/connections/socket-limiter.ts';
import { DATABASE_PATH } from '../../contract/database-access.ts';
import { LOGIN_PATH } from '../../contract/wordpress-login.ts';
import { NOTICES } from '../../policy/pages.ts';
import type { Scheme } from '../../policy/redirects.ts';
import { type AnswersOptions, createAnswers } from './answers.ts';
import type { EdgeCertificate } from './edge-certificate.ts';
import { sendNotice } from './exchange.ts';
import type { EdgePorts } from './redirects.ts';
import type { ServedCertificates } from './served-certificates.ts';

/** Serves the hosted names on an HTTP and an HTTPS address. */
export interface Edge {
  /** Binds both addresses. Rejects with a sentence naming the setting if an address cannot be bound. */
  start(): Promise<{ http: ListenAddress; https: ListenAddress }>;
  /** Finishes active requests, and cuts those that take longer than `graceMs`. */
  stop(graceMs: number): Promise<void>;
}

export interface EdgeOptions extends Omit<AnswersOptions, 'ports'> {
  http: ListenAddress;
  https: ListenAddress;
  certificates: ServedCertificates;
  own: EdgeCertificate;
  /** Over both addresses. */
  connections: SocketLimiter;
}

const CERTIFICATE_CHECK_MS = HOUR_MS;
/** Time for a whole request with an upload. A silent visitor is cut earlier. */
const UPLOAD_MS = 10 * MINUTE_MS;
const TLS_HANDSHAKE_MS = 10_000;
const CHEAPEST_CIPHER = 'TLS_AES_128_GCM_SHA256';
/** Those of Node, the cheapest one first, as Go and browsers prefer it. Phones that cannot compute AES quickly ask for ChaCha20 first, and get it. */
const CIPHER_CHOICE = {
  ciphers: [CHEAPEST_CIPHER, ...DEFAULT_CIPHERS.split(':').filter((name) => name !== CHEAPEST_CIPHER)].join(
    ':',
  ),
  secureOptions: constants.SSL_OP_PRIORITIZE_CHACHA,
};
/** Each part that follows a response or writes to it listens to its end: up to 11, and Node warns from 11 on. */
const RESPONSE_LISTENERS = 20;
/** Time for the response to an unreadable request to reach its client. */
const LINGER_MS = 1_000;

export function createEdge(options: EdgeOptions): Edge {
  const { certificates, own, meter, log } = options;
  const ports: EdgePorts = { http: 0, https: 0 };
  const answer = createAnswers({ ...options, ports });
  let stopping = false;
  let renewals: Repetition | undefined;

  function onRequest(scheme: Scheme) {
    return (request: HttpRequest, response: HttpResponse): void => {
      response.setMaxListeners(RESPONSE_LISTENERS);
      if (log.isLevelEnabled('debug')) logWhenDone(scheme, request, response);
      meter.follow(request, response);
      if (stopping) response.setHeader('Connection', 'close');
      answer(scheme, request, response).catch((err: unknown) => onFailure(err, request, response));
    };
  }

  function onFailure(err: unknown, request: HttpRequest, response: HttpResponse): void {
    const about = { err, host: request.headers.host, url: loggedUrl(request) };
    if (hasCode(err, 'ERR_STREAM_PREMATURE_CLOSE', 'ERR_STREAM_UNABLE_TO_PIPE')) {
      log.debug(about, 'the visitor disconnected before the response was complete');
    } else log.error(about, 'a request could not be answered');
    if (response.headersSent) response.destroy();
    else sendNotice({ response }, NOTICES.failed);
  }

  function logWhenDone(scheme: Scheme, request: HttpRequest, response: HttpResponse): void {
    const start = performance.now();
    response.once('close', () => {
      log.debug(
        {
          scheme,
          host: request.headers.host,
          method: request.method,
          url: loggedUrl(request),
          status: response.statusCode,
          cache: response.getHeader('x-cache'),
          ms: Math.round((performance.now() - start) * 100) / 100,
        },
        'request',
      );
    });
  }

  const limits = options.php ? { ...SERVER_LIMITS, requestTimeout: UPLOAD_MS } : SERVER_LIMITS;
  const httpServer = createHttpServer({ ...limits }, onRequest('http'));
  const httpsServer = createHttpsServer(
    {
      ...limits,
      handshakeTimeout: TLS_HANDSHAKE_MS,
      minVersion: 'TLSv1.2',
      ALPNProtocols: [HTTP2, ...HTTP_OVER_TLS],
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
  const http2 = serveHttp2(httpsServer, {
    limiter: options.connections,
    idleMs: IDLE_MS,
    requestMs: limits.requestTimeout,
    handle: onRequest('https'),
    log,
  });
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
  const drainHttps = drainable(httpsServer, 'https', http2);

  /** For visitors who send no SNI. Those who send it have the other settings of this context, too. */
  async function showOwnCertificate(): Promise<void> {
    const { pem } = await own.present();
    httpsServer.setSecureContext({ cert: pem, key: pem, ...CIPHER_CHOICE });
  }

  async function stop(graceMs: number): Promise<void> {
    stopping = true;
    void renewals?.stop();
    await Promise.all([drainHttp(graceMs), drainHttps(graceMs)]);
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
        await stop(0);
        throw error;
      }
    },
    stop,
  };
}

/** A login to WordPress, and to the database, has its token in the query. */
function loggedUrl({ url = '' }: HttpRequest): string {
  return url.includes(LOGIN_PATH) || url.includes(DATABASE_PATH) ? url.replace(/\?.*$/s, '') : url;
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
