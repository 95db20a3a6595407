import type { Server as HttpServer, IncomingMessage, ServerResponse } from 'node:http';
import type { Server as HttpsServer } from 'node:https';
import type { Socket } from 'node:net';
import type { SocketLimiter } from './socket-limiter.ts';

/** ALPN names (RFC 7301). Left to itself Node refuses clients that offer HTTP/1.0 alone. */
export const HTTP_OVER_TLS = ['http/1.1', 'http/1.0'];

/** Admits each connection of a server that listens, before anything is made for it, and follows its requests. */
export function limitConnections(server: HttpServer | HttpsServer, limiter: SocketLimiter): void {
  const serving = server.listeners('connection');
  server.removeAllListeners('connection');
  server.on('connection', (socket: Socket) => {
    if (limiter.admit(socket)) for (const serve of serving) serve.call(server, socket);
  });
  followRequests(server, limiter);
}

/** Tells the limiter which connections carry a whole request. They were admitted elsewhere. */
export function followRequests(server: HttpServer | HttpsServer, limiter: SocketLimiter): void {
  server.on('secureConnection', (socket) => limiter.secured(socket));
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request;
    let isAnswered = false;
    response.once('close', () => {
      isAnswered = true;
    });
    const begin = () => {
      if (isAnswered) return;
      limiter.busy(socket);
      response.once('close', () => limiter.waiting(socket));
    };
    // A client that holds its body back is waited for. Otherwise a few addresses could keep a full server from everyone.
    if (hasBody(request)) request.once('end', begin);
    else begin();
  });
}

/** RFC 9112 section 6.3. */
function hasBody({ headers }: IncomingMessage): boolean {
  const { 'content-length': length = '0', 'transfer-encoding': encoding } = headers;
  return encoding !== undefined || Number(length) > 0;
}
