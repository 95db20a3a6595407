import {
  constants,
  type IncomingHttpHeaders,
  performServerHandshake,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { Server as HttpsServer } from 'node:https';
import type { TLSSocket } from 'node:tls';
import type { Logger } from 'pino';
import { followRequest } from './http-connections.ts';
import type { HttpHandler } from './http-messages.ts';
import { Http2Request, Http2Response } from './http2-messages.ts';
import type { SocketLimiter } from './socket-limiter.ts';

/** ALPN name (RFC 7301). */
export const HTTP2 = 'h2';

/** Whether a connection speaks HTTP/2. */
export const isHttp2 = (socket: object): boolean => 'alpnProtocol' in socket && socket.alpnProtocol === HTTP2;

/**
 * Limits of one connection, which nghttp2 and Node enforce. Their other limits, such as for floods of settings and for headers in many frames, are
 * the defaults.
 */
const HTTP2_LIMITS = {
  settings: {
    /** As many as RFC 9113 recommends at least, where an address may have so many. */
    maxConcurrentStreams: 100,
    /** Of a request, in bytes, as over HTTP/1. */
    maxHeaderListSize: 16 * 1024,
    /** Bytes of an upload that wait. */
    initialWindowSize: 64 * 1024 - 1,
    enablePush: false,
  },
  maxHeaderListPairs: 128,
  /** Requests that a visitor takes back at once, and for each second after that. A browser that leaves a page takes back some dozens. */
  streamResetBurst: 200,
  streamResetRate: 20,
  /** MB. */
  maxSessionMemory: 10,
  maxSessionInvalidFrames: 100,
  maxSessionRejectedStreams: 100,
  maxOutstandingPings: 10,
};

const LAST_STREAM = 2 ** 31 - 1;

export interface Http2Options {
  limiter: SocketLimiter;
  /** Timeout of a connection without a request, and of a request without data, in milliseconds. */
  idleMs: number;
  /** Timeout of the body of a request. */
  requestMs: number;
  handle: HttpHandler;
  log: Logger;
}

/** The connections of a TLS server that speak HTTP/2. */
export interface Http2Connections {
  /** Asks clients to begin no further requests, and answers those in transit. */
  announceClose(): void;
  /** Lets requests in progress finish, and refuses further ones. */
  close(): void;
}

/**
 * Serves HTTP/2 to the visitors of a TLS server who chose it. Others get HTTP/1 from those who listened to its connections before, so others
 * listen later.
 */
export function serveHttp2(server: HttpsServer, options: Http2Options): Http2Connections {
  const { limiter, idleMs, requestMs, handle, log } = options;
  const open = new Set<ServerHttp2Session>();
  const admit = limitRequests(limiter);
  const { maxConcurrentStreams } = HTTP2_LIMITS.settings;
  const settings = {
    ...HTTP2_LIMITS.settings,
    maxConcurrentStreams: Math.min(maxConcurrentStreams, limiter.limits.perBlock),
  };
  let isAnnounced = false;
  let isClosing = false;

  const servingHttp1 = server.listeners('secureConnection');
  server.removeAllListeners('secureConnection');
  server.on('secureConnection', (socket: TLSSocket) => {
    if (isHttp2(socket)) begin(socket);
    else for (const serve of servingHttp1) serve.call(server, socket);
  });

  function begin(socket: TLSSocket): void {
    const session = performServerHandshake(socket, {
      ...HTTP2_LIMITS,
      settings,
      // A website's program that sends a header twice gets through, as over HTTP/1.
      strictSingleValueFields: false,
    });
    open.add(session);
    session.once('close', () => open.delete(session));
    session.on('error', (err) => log.debug({ err }, 'an HTTP/2 connection failed'));
    const requests = endWhenIdle(session);
    session.on('stream', (stream, headers, _flags, rawHeaders) => {
      requests.add(stream);
      stream.on('error', (err) => log.debug({ err }, 'an HTTP/2 request failed'));
      if (admit(socket, stream)) answer(socket, stream, headers, rawHeaders);
    });
    if (isClosing) session.close();
    else if (isAnnounced) announceClose(session);
  }

  /** Frames alone, such as pings, keep no connection open. */
  function endWhenIdle(session: ServerHttp2Session): { add(stream: ServerHttp2Stream): void } {
    let requests = 0;
    let idleSince = performance.now();
    const timer = setTimeout(() => {
      if (requests === 0 && performance.now() - idleSince >= idleMs) session.destroy();
      else timer.refresh();
    }, idleMs);
    session.once('close', () => clearTimeout(timer));
    return {
      add(stream) {
        requests += 1;
        stream.once('close', () => {
          requests -= 1;
          idleSince = performance.now();
        });
      },
    };
  }

  function answer(
    socket: TLSSocket,
    stream: ServerHttp2Stream,
    headers: IncomingHttpHeaders,
    rawHeaders: readonly string[],
  ): void {
    const response = new Http2Response(stream, headers[':method'] ?? '');
    response.setTimeout(idleMs);
    // Node refuses them only after the client has accepted the limit.
    if (bytesOf(rawHeaders) > HTTP2_LIMITS.settings.maxHeaderListSize) {
      response.writeHead(431, { 'Content-Length': 0 }).end();
      return;
    }
    const request = new Http2Request(stream, headers, rawHeaders, socket, () => response.touch());
    if (!request.complete) endWhenSlow(request, stream);
    if (headers.expect?.toLowerCase() === '100-continue') stream.additionalHeaders({ ':status': 100 });
    followRequest(limiter, request, response);
    handle(request, response);
  }

  /** Over HTTP/1, Node does that itself. */
  function endWhenSlow(request: Http2Request, stream: ServerHttp2Stream): void {
    const timer = setTimeout(() => stream.close(constants.NGHTTP2_CANCEL), requestMs);
    request.once('end', () => clearTimeout(timer));
    stream.once('close', () => clearTimeout(timer));
  }

  return {
    announceClose() {
      isAnnounced = true;
      for (const session of open) announceClose(session);
    },
    close() {
      isClosing = true;
      for (const session of open) if (!session.closed) session.close();
    },
  };
}

/** RFC 9113, section 6.8: the first GOAWAY names the last possible stream, so that no request in transit is refused. */
function announceClose(session: ServerHttp2Session): void {
  if (!session.closed && !session.destroyed) session.goaway(constants.NGHTTP2_NO_ERROR, LAST_STREAM);
}

/**
 * Requests in progress take memory and descriptors as connections of HTTP/1 do, so as many are allowed. Returns whether a request may begin;
 * otherwise it is refused, so that the client may repeat it.
 */
function limitRequests({
  limits,
  blockOf,
}: SocketLimiter): (socket: TLSSocket, stream: ServerHttp2Stream) => boolean {
  let total = 0;
  const perBlock = new Map<string | null, number>();
  return ({ remoteAddress = '' }, stream) => {
    const block = blockOf(remoteAddress);
    const ofBlock = perBlock.get(block) ?? 0;
    if (total >= limits.total || (block !== null && ofBlock >= limits.perBlock)) {
      stream.close(constants.NGHTTP2_REFUSED_STREAM);
      return false;
    }
    total += 1;
    perBlock.set(block, ofBlock + 1);
    stream.once('close', () => {
      total -= 1;
      const left = (perBlock.get(block) ?? 1) - 1;
      if (left === 0) perBlock.delete(block);
      else perBlock.set(block, left);
    });
    return true;
  };
}

const bytesOf = (headers: readonly string[]): number =>
  headers.reduce((bytes, text) => bytes + text.length, 0);
