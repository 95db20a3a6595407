import { createServer as createHttpServer, type Server as HttpServer, type RequestListener } from 'node:http';
import { createServer as createHttpsServer, type Server as HttpsServer } from 'node:https';
import { createServer as createTcpServer, type Socket } from 'node:net';
import type { ListenAddress } from '../config.ts';

/** First byte of a TLS handshake record (RFC 8446, section 5.1). No HTTP method begins with it. */
const TLS_HANDSHAKE = 0x16;
const SWEEP_MS = 50;

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
 */
export function createSecureListener(
  handler: RequestListener,
  pair: CertificatePair,
  onClientError: (error: Error, socket: Socket) => void,
  timeouts: ConnectionTimeouts = CONNECTION_TIMEOUTS,
): SecureListener {
  /** Every TCP connection. */
  const open = new Set<Socket>();
  /** Connections that carried no request yet. Node counts them among the busy ones until their headers are late. */
  const unused = new Set<Socket>();
  const handle: RequestListener = (request, response) => {
    unused.delete(request.socket);
    handler(request, response);
  };
  const noteUnused = (socket: Socket) => {
    unused.add(socket);
    socket.once('close', () => unused.delete(socket));
  };

  const options = { connectionsCheckingInterval: timeouts.checkMs };
  const https = createHttpsServer(
    { ...pair, ...options, minVersion: 'TLSv1.2', handshakeTimeout: timeouts.handshakeMs },
    handle,
  );
  const http = createHttpServer(options, handle);
  for (const server of [https, http]) harden(server, timeouts, onClientError);
  https.on('tlsClientError', (_error, socket) => socket.destroy());
  https.on('secureConnection', noteUnused);
  http.on('connection', noteUnused);

  const tcp = createTcpServer({ noDelay: true }, (socket) => {
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
      const closeIdle = () => {
        for (const socket of unused) socket.destroy();
        for (const socket of open) if (socket.bytesRead === 0) socket.destroy();
        for (const server of [https, http]) server.closeIdleConnections();
      };
      closeIdle();
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

function harden(
  server: HttpServer | HttpsServer,
  timeouts: ConnectionTimeouts,
  onClientError: (error: Error, socket: Socket) => void,
): void {
  server.keepAliveTimeout = timeouts.keepAliveMs;
  server.headersTimeout = timeouts.headersMs;
  server.requestTimeout = timeouts.requestMs;
  server.timeout = timeouts.stalledMs;
  server.on('clientError', onClientError);
  // Node keeps track of connections (for time-outs and for closing idle ones) only in a server that listens; these
  // are handed theirs by the one that does.
  server.emit('listening');
}
