import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Config } from '../config/config.ts';
import type { RequestSpan, Tracing } from '../tracing/tracing.ts';
import { isHttps, trustsAddress } from './client-address.ts';
import { asksForEvents } from './event-streams.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Absent if traces are off. */
    span?: RequestSpan;
  }
}

/**
 * Records a span of each request that `isMeasured`. A caller's trace goes on only if the caller is a trusted proxy: anyone else could
 * choose which requests are recorded, and under which id. Call it before other hooks.
 */
export function traceRequests(
  app: FastifyInstance,
  tracing: Pick<Tracing, 'request'>,
  { trustProxy }: Pick<Config, 'trustProxy'>,
  isMeasured: (route: string, reply: FastifyReply) => boolean,
): void {
  app.addHook('onRequest', (request, _reply, done) => {
    const isTrusted = trustsAddress(trustProxy, request.socket.remoteAddress);
    request.span = tracing.request({
      id: request.id,
      traceparent: isTrusted ? request.headers.traceparent : undefined,
    });
    done();
  });
  // After the body was read, because its events belong to no request. A stream asks hosts as long as its reader stays.
  app.addHook('preHandler', (request, _reply, done) => {
    if (request.span === undefined || asksForEvents(request)) done();
    else request.span.run(done);
  });
  app.addHook('onResponse', (request, reply, done) => {
    const { url: route } = request.routeOptions;
    const scheme = isHttps(request.raw, trustProxy) ? 'https' : 'http';
    const answered = { method: request.method, scheme, route, status: reply.statusCode };
    request.span?.end(isMeasured(route ?? 'none', reply) ? answered : null);
    done();
  });
}
