import { createServer as createHttpServer, type Server as HttpServer, type RequestListener } from 'node:http';
import { createServer as createHttpsServer, type Server as HttpsServer } from 'node:https';
import { createServer as createTcpServer, type Socket } from 'node:net';
import type { ListenAddress } from '../config.ts';

/** First byte of a TLS handshake record (RFC 8446, section 5.1). No HTTP method begins with it. */
const TLS_HANDSHAKE = 0x16;
/** Who has not sent a byte by then is not going to. */
const FIRST_BYTE_TIMEOUT_MS = 15_000;
const KEEP_ALIVE_MS = 72_000;
const HEADERS_TIMEOUT_MS = 20_000;
const REQUEST_TIMEOUT_MS = 60_000;

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
): SecureListener {
  const https = createHttpsServer({ ...pair, minVersion: 'TLSv1.2' }, handler);
  const http = createHttpServer(handler);
  for (const server of [https, http]) harden(server, onClientError);
  https.on('tlsClientError', (_error, socket) => socket.destroy());

  const open = new Set<Socket>();
  const tcp = createTcpServer({ noDelay: true }, (socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
    socket.on('error', () => socket.destroy());
    socket.setTimeout(FIRST_BYTE_TIMEOUT_MS, () => socket.destroy());
    socket.once('readable', () => {
      const chunk: Buffer | null = socket.read();
      if (chunk === null) return;
      socket.setTimeout(0);
      socket.removeAllListeners('timeout');
      socket.unshift(chunk);
      (chunk[0] === TLS_HANDSHAKE ? https : http).emit('connection', socket);
    });
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
      const sweep = setInterval(() => {
        https.closeIdleConnections();
        http.closeIdleConnections();
      }, 50);
      https.closeIdleConnections();
      http.closeIdleConnections();
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

function harden(
  server: HttpServer | HttpsServer,
  onClientError: (error: Error, socket: Socket) => void,
): void {
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  server.headersTimeout = HEADERS_TIMEOUT_MS;
  server.requestTimeout = REQUEST_TIMEOUT_MS;
  server.on('clientError', onClientError);
  // Node keeps track of connections (for time-outs and for closing idle ones) only in a server that listens; these
  // are handed theirs by the one that does.
  server.emit('listening');
}
