import type { Socket } from 'node:net';
import type { Clock } from '../../../lib/clock.ts';
import type { HttpRequest, HttpResponse } from '../../../network/connections/http-messages.ts';
import { Http2Response } from '../../../network/connections/http2-messages.ts';
import { wantsOnlyCached } from '../../policy/page-request-headers.ts';
import { type EdgeCounts, isCacheHit } from '../../policy/usage/edge-counts.ts';
import type { UsageLedger } from '../../policy/usage/ledger.ts';
import { isVisit, visitorOf } from '../../policy/usage/visitors.ts';
import { answerOf } from '../../websites/logs/access-logs.ts';
import { accessEntry, type WebsiteRequest } from './access-entry.ts';
import type { RequestLog } from './request-log.ts';

/** Counts the bytes of each response, and the visitors, and logs the requests of websites. */
export interface ResponseMeter {
  /** Follows a response until its last byte has been sent, or its connection is cut. */
  follow(request: HttpRequest, response: HttpResponse): void;
  /** Counts and logs a followed response for a website. Others count for none, and are in no log. */
  assign(response: HttpResponse, request: WebsiteRequest): void;
}

export interface ResponseMeterOptions {
  ledger: UsageLedger;
  /** Of all websites together. */
  counts: Pick<EdgeCounts, 'add'>;
  requests: Pick<RequestLog, 'add'>;
  clock: Clock;
}

/** Counted bytes of a connection, which carries one response after another. */
interface Connection {
  /** Bytes of earlier responses. */
  bytes: number;
  /** The last visit, because most requests of a connection are of one visitor. */
  visitor: string | undefined;
  agent: string | undefined;
  installId: string | undefined;
  /** UTC days since 1970. */
  day: number;
}

const DAY_MS = 86_400_000;

export function createResponseMeter({
  ledger,
  counts,
  requests,
  clock,
}: ResponseMeterOptions): ResponseMeter {
  const connections = new WeakMap<Socket, Connection>();
  const assigned = new WeakMap<HttpResponse, WebsiteRequest>();

  function connectionOf(socket: Socket): Connection {
    let connection = connections.get(socket);
    if (connection === undefined) {
      connection = { bytes: 0, visitor: undefined, agent: undefined, installId: undefined, day: 0 };
      connections.set(socket, connection);
    }
    return connection;
  }

  function countVisit(
    { installId, address: visitor }: WebsiteRequest,
    agent: string | undefined,
    atMs: number,
    last: Connection,
  ): void {
    const day = Math.floor(atMs / DAY_MS);
    if (
      last.visitor === visitor &&
      last.agent === agent &&
      last.installId === installId &&
      last.day === day
    ) {
      return;
    }
    Object.assign(last, { visitor, agent, installId, day });
    if (visitor !== undefined && isVisit(agent)) ledger.visit(installId, atMs, visitorOf(visitor));
  }

  return {
    follow(request, response) {
      const { socket } = request;
      const begunAtMs = performance.now();
      // Of another visitor it counts, and is logged. At the end, a closed connection has no address any more.
      const isAsked = asksAsCheck(request);
      const own = isAsked ? socket.localAddress : undefined;
      let isCounted = false;
      const settle = () => {
        if (isCounted) return;
        isCounted = true;
        const connection = connectionOf(socket);
        // Bytes that still wait in this process were not sent: the connection is cut.
        const sent = socket.bytesWritten - socket.writableLength;
        const unclaimed = Math.max(0, sent - connection.bytes);
        // Other responses may be on their way on the same connection.
        const bytes = response instanceof Http2Response ? Math.min(response.bytes, unclaimed) : unclaimed;
        connection.bytes += bytes;
        const website = assigned.get(response);
        if (website === undefined || (isAsked && website.address === own)) return;
        const { installId, address = '' } = website;
        const atMs = clock.now().getTime();
        ledger.count(installId, atMs, bytes);
        countVisit(website, request.headers['user-agent'], atMs, connection);
        const entry = accessEntry(website, request, response, { bytes, ms: performance.now() - begunAtMs });
        counts.add({
          status: entry.status,
          bytes,
          isHit: entry.cache === null ? null : isCacheHit(entry.cache),
        });
        requests.add({ installId, atMs, address, answer: answerOf(entry) });
      };
      // Before the server's own listener, which begins to send the next response of a pipeline.
      response.prependListener('finish', settle);
      response.on('close', settle);
    },
    assign(response, request) {
      assigned.set(response, request);
    },
  };
}

/**
 * Whether a request asks as a check of the platform does, which comes from this machine. It has no content, so that no website hides
 * traffic this way.
 */
const asksAsCheck = ({ method, headers }: HttpRequest): boolean =>
  method === 'HEAD' && wantsOnlyCached(headers['cache-control']);

/** The visitor's address: the peer, or the last one of `X-Forwarded-For` that is no trusted proxy. */
export function addressOf(
  { headers, socket }: Pick<HttpRequest, 'headers' | 'socket'>,
  isTrusted: (address: string) => boolean,
): string | undefined {
  const peer = socket.remoteAddress;
  const forwarded = headers['x-forwarded-for'];
  if (peer === undefined || forwarded === undefined || !isTrusted(peer)) return peer;
  const hops = String(forwarded)
    .split(',')
    .map((hop) => hop.trim());
  return hops.findLast((hop) => !isTrusted(hop)) ?? hops[0];
}
