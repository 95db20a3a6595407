import {
  createServer as createHttpServer,
  type Server as HttpServer,
  type RequestListener,
  ServerResponse,
} from 'node:http';
import { createServer as createHttpsServer, type Server as HttpsServer } from 'node:https';
import { createServer as createTcpServer, type Socket } from 'node:net';
import type { ListenAddress } from '../config/config.ts';
import { followRequests, HTTP_OVER_TLS } from '../network/connections/http-connections.ts';
import type { SocketLimiter } from '../network/connections/socket-limiter.ts';

/** First byte of a TLS handshake record (RFC 8446, section 5.1). No HTTP method begins with it. */
const TLS_HANDSHAKE = 0x16;
/** How often connections that became idle are looked for while the listener closes. */
const SWEEP_MS = 50;
/** How long an answer to what cannot be read has to reach its client. */
const LINGER_MS = 1_000;

/** How long a connection may take for each step, in milliseconds; who is slower is cut off, so that none is held open. */
export interface ConnectionTimeouts {
  /** Until the first byte; who has not sent one by then is not going to. */
  firstByteMs: number;
  /** For the TLS handshake. */
  handshakeMs: number;
  /** From the first byte of a request to the end of its headers. */
  headersMs: number;
  /** From the first byte of a request to the end of its body. */
  requestMs: number;
  /** Between requests. Longer than proxies keep theirs, so that it is they who close (60 s at most of them). */
  keepAliveMs: number;
  /** Without a byte in either direction during a request: the client takes no answer. */
  stalledMs: number;
  /** How often requests are looked at for being late. */
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
  /** The HTTPS server, which the framework attaches itself to. */
  readonly https: HttpsServer;
  /** Returns the address in use; with port 0 the system has chosen one. */
  listen(address: ListenAddress): Promise<ListenAddress>;
  /** Uses another certificate from the next handshake on. */
  setCertificate(pair: CertificatePair): void;
  /** No new connections; those that are idle are closed, the others after their answer, all after `graceMs`. */
  close(graceMs: number): Promise<void>;
}

export interface CertificatePair {
  cert: string;
  key: string;
}

/**
 * HTTPS and plain HTTP on one port, told apart by the first byte, so that a plain request gets an answer that says
 * what is wrong instead of a reset (gaps section 1). Both kinds reach the same handler; it refuses the plain ones.
 * `unreadableAnswer` is sent, as it is, to what is no HTTP. `limiter` decides which connections there is room for.
 */
export function createSecureListener(
  handler: RequestListener,
  pair: CertificatePair,
  unreadableAnswer: string,
  limiter: SocketLimiter,
  timeouts: ConnectionTimeouts = CONNECTION_TIMEOUTS,
): SecureListener {
  /** Every TCP connection. */
  const open = new Set<Socket>();
  /** Those that HTTP is spoken on: the TCP connections themselves, or the TLS ones upon them. */
  const speaking = new Set<Socket>();
  /** Those of them that carried no request yet. Node counts them among the busy ones until their headers are late. */
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

  // Left to itself Node answers a request without a host with nothing but 400; the handler says what is wrong.
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
  // Left to itself Node answers 417, which no endpoint lists; an expectation that is not known may be ignored
  // (RFC 9110, section 10.1.1).
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
    async listen({ host, port }) {
      await new Promise<void>((resolve, reject) => {
        tcp.once('error', reject);
        tcp.listen({ host, port }, () => {
          tcp.removeListener('error', reject);
          resolve();
        });
      });
      const address = tcp.address();
      return { host, port: typeof address === 'object' && address !== null ? address.port : port };
    },
    setCertificate: (next) => https.setSecureContext({ ...next, minVersion: 'TLSv1.2' }),
    async close(graceMs) {
      const closed = new Promise<void>((resolve) => tcp.close(() => resolve()));
      // What is answered from now on says that the connection ends with it. The connections that are idle are closed
      // only after a moment: the next request of a busy client may be on its way.
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
      const sweep = setInterval(closeIdle, SWEEP_MS);
      const force = setTimeout(() => {
        for (const socket of open) socket.destroy();
      }, graceMs);
      await closed;
      clearInterval(sweep);
      clearTimeout(force);
      // Ends the timer that looks for slow requests; these two never listened themselves.
      for (const server of [https, http]) server.close(() => {});
    },
  };
}

/** Gives a connection to the server that its first byte is for. */
function handOver(
  socket: Socket,
  timeoutMs: number,
  choose: (first: number) => HttpServer | HttpsServer,
): void {
  const giveUp = () => socket.destroy();
  socket.setTimeout(timeoutMs, giveUp);
  socket.once('readable', () => {
    const chunk: Buffer | null = socket.read();
    // The end of the stream is also readable: who closes without a word is gone.
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

/** The answer that the connection waits for or is carrying, by Node's own note of it. */
function responseOn(socket: Socket): ServerResponse | undefined {
  const response: unknown = Reflect.get(socket, '_httpMessage');
  return response instanceof ServerResponse ? response : undefined;
}

const refused = new WeakSet<Socket>();

/**
 * Answers bytes that are no HTTP request, or that come too slowly to become one: with `answer`, the whole of it, and
 * the end of the connection.
 */
function refuseUnreadable(socket: Socket, answer: string): void {
  if (refused.has(socket)) return;
  refused.add(socket);
  // While an earlier request of the connection waits for its answer, this would be taken for it.
  if (!socket.writable || responseOn(socket)) {
    socket.destroy();
    return;
  }
  socket.end(answer);
  // What the client still sends is read and dropped: unread, it would make the end a reset that overtakes the answer.
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
  server.on('clientError', (_error, socket: Socket) => refuseUnreadable(socket, unreadableAnswer));
  // Node keeps track of connections (for time-outs and for closing idle ones) only in a server that listens; these
  // are handed theirs by the one that does.
  server.emit('listening');
}
