import {
  createServer as createHttpServer,
  type Server as HttpServer,
  type RequestListener,
  ServerResponse,
} from 'node:http';
import { createServer as createHttpsServer, type Server as HttpsServer } from 'node:https';
import { createServer as createTcpServer, type Socket } from 'node:net';
import type { ListenAddress } from '../config/config.ts';
import { hasCode } from '../lib/error-code.ts';
import { followRequests, HTTP_OVER_TLS } from '../network/connections/http-connections.ts';
import { bindServer, HAND_OVER_LINGER_MS } from '../network/connections/inherited-sockets.ts';
import type { SocketLimiter } from '../network/connections/socket-limiter.ts';

/** First byte of a TLS handshake record (RFC 8446, section 5.1). No HTTP method begins with it. */
const TLS_HANDSHAKE = 0x16;
/** Interval of closing idle connections while the listener closes. */
const SWEEP_MS = 50;
/** Time for the answer to an unreadable request to reach the client. */
const LINGER_MS = 1_000;

/** Time limits of a connection's steps, in milliseconds. Slower connections are closed, so that clients cannot hold them open. */
export interface ConnectionTimeouts {
  /** Until the first byte. */
  firstByteMs: number;
  /** For the TLS handshake. */
  handshakeMs: number;
  /** From the first byte of a request to the end of its headers. */
  headersMs: number;
  /** From the first byte of a request to the end of its body. */
  requestMs: number;
  /** Between requests. Longer than the 60 s of most proxies, so that the proxy closes first. */
  keepAliveMs: number;
  /** Without a byte in either direction during a request, because the client does not read the answer. */
  stalledMs: number;
  /** Interval of checks for late requests. */
  checkMs: number;
}

export const CONNECTION_TIMEOUTS: ConnectionTimeouts = {
  firstByteMs: 15_000,
  handshakeMs: 15_000,
  headersMs: 20_000,
  requestMs: 60_000,
  keepAliveMs: 72_000,
  stalledMs: 120_000,
  checkMs: 5_000,
};

export interface SecureListener {
  /** The HTTPS server that Fastify attaches to. */
  readonly https: HttpsServer;
  /** Returns the address in use. The system chooses a port if `address` has port 0. */
  listen(address: ListenAddress): Promise<ListenAddress>;
  /** Uses another certificate from the next handshake on. */
  setCertificate(pair: CertificatePair): void;
  /** Refuses new connections and closes the others: idle ones now, busy ones after their answer, all after `graceMs`. */
  close(graceMs: number): Promise<void>;
}

export interface CertificatePair {
  cert: string;
  key: string;
}

/**
 * Serves HTTPS and plain HTTP on one port, distinguished by the first byte. A plain request gets an explaining answer
 * instead of a reset (docs/api.md, Requests and responses). Both kinds reach `handler`, which refuses plain ones.
 * `unreadableAnswer` is the raw answer to bytes that are not HTTP. `limiter` decides whether to accept a connection.
 */
export function createSecureListener(
  handler: RequestListener,
  pair: CertificatePair,
  unreadableAnswer: string,
  limiter: SocketLimiter,
  timeouts: ConnectionTimeouts = CONNECTION_TIMEOUTS,
  lingerMs = HAND_OVER_LINGER_MS,
): SecureListener {
  /** Every TCP connection. */
  const open = new Set<Socket>();
  /** Connections that carry HTTP: plain TCP connections, and TLS connections. */
  const speaking = new Set<Socket>();
  /** HTTP connections without a request so far. Node counts them as busy until their headers are late. */
  const unused = new Set<Socket>();
  let closing = false;

  const handle: RequestListener = (request, response) => {
    unused.delete(request.socket);
    if (closing) response.shouldKeepAlive = false;
    handler(request, response);
  };
  const note = (socket: Socket) => {
    speaking.add(socket);
    unused.add(socket);
    socket.once('close', () => {
      speaking.delete(socket);
      unused.delete(socket);
    });
  };

  // By default Node answers a request without a host with an empty 400; the handler explains the error.
  const options = { connectionsCheckingInterval: timeouts.checkMs, requireHostHeader: false };
  const https = createHttpsServer(
    {
      ...pair,
      ...options,
      minVersion: 'TLSv1.2',
      ALPNProtocols: HTTP_OVER_TLS,
      handshakeTimeout: timeouts.handshakeMs,
    },
    handle,
  );
  const http = createHttpServer(options, handle);
  for (const server of [https, http]) harden(server, timeouts, unreadableAnswer);
  // By default Node answers 417, which no endpoint lists. A server may ignore an unknown expectation (RFC 9110,
  // section 10.1.1).
  for (const server of [https, http]) server.on('checkExpectation', handle);
  https.on('tlsClientError', (_error, socket) => socket.destroy());
  for (const server of [https, http]) followRequests(server, limiter);
  https.on('secureConnection', note);
  http.on('connection', note);

  const tcp = createTcpServer({ noDelay: true }, (socket) => {
    if (!limiter.admit(socket)) return;
    open.add(socket);
    socket.once('close', () => open.delete(socket));
    socket.on('error', () => socket.destroy());
    handOver(socket, timeouts.firstByteMs, (first) => (first === TLS_HANDSHAKE ? https : http));
  });

  return {
    https,
    listen: (address) => bindServer(tcp, address),
    setCertificate: (next) => https.setSecureContext({ ...next, minVersion: 'TLSv1.2' }),
    async close(graceMs) {
      const closed = new Promise<void>((resolve) => tcp.close(() => resolve()));
      // Answers now carry `Connection: close`. Idle connections stay open for a moment, because a busy client's next
      // request may be in transit.
      closing = true;
      for (const socket of speaking) {
        const response = responseOn(socket);
        if (response) response.shouldKeepAlive = false;
      }
      const closeIdle = () => {
        for (const socket of unused) socket.destroy();
        for (const socket of open) if (socket.bytesRead === 0) socket.destroy();
        for (const server of [https, http]) server.closeIdleConnections();
      };
      const lingerUntil = performance.now() + Math.min(lingerMs, graceMs);
      const sweep = setInterval(() => {
        if (performance.now() >= lingerUntil) closeIdle();
      }, SWEEP_MS);
      const force = setTimeout(() => {
        for (const socket of open) socket.destroy();
      }, graceMs);
      await closed;
      clearInterval(sweep);
      clearTimeout(force);
      // Stops the timers that check for slow requests. These two servers never listened.
      for (const server of [https, http]) server.close(() => {});
    },
  };
}

/** Passes a connection to the server that `choose` selects by the first byte. */
function handOver(
  socket: Socket,
  timeoutMs: number,
  choose: (first: number) => HttpServer | HttpsServer,
): void {
  const giveUp = () => socket.destroy();
  socket.setTimeout(timeoutMs, giveUp);
  socket.once('readable', () => {
    const chunk: Buffer | null = socket.read();
    // The end of the stream is also readable: the client closed without sending anything.
    const first = chunk?.[0];
    if (chunk === null || first === undefined) {
      socket.destroy();
      return;
    }
    socket.setTimeout(0);
    socket.removeListener('timeout', giveUp);
    socket.unshift(chunk);
    choose(first).emit('connection', socket);
  });
}

/** The pending or current answer on a connection. Node keeps it in an internal property. */
function responseOn(socket: Socket): ServerResponse | undefined {
  const response: unknown = Reflect.get(socket, '_httpMessage');
  return response instanceof ServerResponse ? response : undefined;
}

const refused = new WeakSet<Socket>();

/**
 * To a client that sent no whole request in time. Browsers open connections in advance and repeat a request that met this answer
 * (RFC 9110, section 15.5.9); another status would be taken for the answer to that request.
 */
const TIMED_OUT = 'HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n';

/**
 * Sends the raw `answer` to a client whose bytes are not an HTTP request or arrive too slowly. Then closes the
 * connection.
 */
function refuse(socket: Socket, answer: string): void {
  if (refused.has(socket)) return;
  refused.add(socket);
  // The client would mistake this for the answer to an earlier request on the connection.
  if (!socket.writable || responseOn(socket)) {
    socket.destroy();
    return;
  }
  socket.end(answer);
  // Reads and drops the remaining bytes. Unread bytes would turn the close into a reset, and the answer would be lost.
  socket.on('data', () => {});
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}

function harden(
  server: HttpServer | HttpsServer,
  timeouts: ConnectionTimeouts,
  unreadableAnswer: string,
): void {
  server.keepAliveTimeout = timeouts.keepAliveMs;
  server.headersTimeout = timeouts.headersMs;
  server.requestTimeout = timeouts.requestMs;
  server.timeout = timeouts.stalledMs;
  server.on('clientError', (error, socket: Socket) =>
    refuse(socket, hasCode(error, 'ERR_HTTP_REQUEST_TIMEOUT') ? TIMED_OUT : unreadableAnswer),
  );
  // Node tracks connections, for timeouts and for closing idle ones, only in a server that listens. These two servers
  // receive connections from another one.
  server.emit('listening');
}
