import type { Server as HttpServer, IncomingMessage, ServerResponse } from 'node:http';
import type { Server as HttpsServer } from 'node:https';
import type { Socket } from 'node:net';
import type { HttpRequest, HttpResponse } from './http-messages.ts';
import type { SocketLimiter } from './socket-limiter.ts';

/** ALPN names (RFC 7301). By default, Node refuses clients that offer only HTTP/1.0. */
export const HTTP_OVER_TLS = ['http/1.1', 'http/1.0'];

/** Passes each new connection of a server through the limiter before any other handler, and follows its requests. */
export function limitConnections(server: HttpServer | HttpsServer, limiter: SocketLimiter): void {
  const serving = server.listeners('connection');
  server.removeAllListeners('connection');
  server.on('connection', (socket: Socket) => {
    if (limiter.admit(socket)) for (const serve of serving) serve.call(server, socket);
  });
  followRequests(server, limiter);
}

/** Reports complete requests to the limiter, for connections that were admitted elsewhere. */
export function followRequests(server: HttpServer | HttpsServer, limiter: SocketLimiter): void {
  server.on('secureConnection', (socket) => limiter.secured(socket));
  server.on('request', (request: IncomingMessage, response: ServerResponse) =>
    followRequest(limiter, request, response),
  );
}

/** Reports a request to the limiter once it is complete. */
export function followRequest(
  limiter: SocketLimiter,
  request: Pick<HttpRequest, 'headers' | 'once' | 'socket'>,
  response: Pick<HttpResponse, 'closed' | 'on'>,
): void {
  const { socket } = request;
  const begin = () => {
    // The answer was sent before the body was complete.
    if (response.closed) return;
    limiter.busy(socket);
    response.on('close', () => limiter.waiting(socket));
  };
  // A request counts once its body is complete. Otherwise a few slow addresses could block a full server.
  if (hasBody(request)) request.once('end', begin);
  else begin();
}

/** RFC 9112 section 6.3. */
function hasBody({ headers }: Pick<HttpRequest, 'headers'>): boolean {
  const { 'content-length': length = '0', 'transfer-encoding': encoding } = headers;
  return encoding !== undefined || Number(length) > 0;
}
