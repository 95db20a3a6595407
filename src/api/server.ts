import { type IncomingMessage, maxHeaderSize } from 'node:http';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import {
  ClientLeft,
  Failure,
  HttpsRequired,
  INVALID_PARAMETERS,
  InvalidRequest,
  NotFound,
} from '../lib/failures.ts';
import type { Randomness } from '../lib/ids.ts';
import type { SocketLimiter } from '../network/connections/socket-limiter.ts';
import type { Tracing } from '../tracing/tracing.ts';
import { isHttps, trustsAddress } from './client-address.ts';
import { withCompression, withConventions, withEntityTags } from './conventions.ts';
import { describeApi, describePortal } from './description.ts';
import { addDocsPage } from './docs-page.ts';
import { type ErrorStatus, errorAnswer } from './errors.ts';
import { EVENT_STREAM } from './event-streams.ts';
import type { Gate } from './gate.ts';
import { HEALTH_PATHS } from './health.ts';
import type { Idempotency } from './idempotency.ts';
import { LARGEST_BODY_BYTES, LARGEST_BODY_OF_STRANGERS_BYTES, readBodyOrFailure } from './json-body.ts';
import { lazySerializers } from './lazy-serializers.ts';
import { API_PREFIX, PORTAL_PREFIX } from './prefixes.ts';
import { parseTarget, routableTarget } from './request-target.ts';
import type { Route } from './route.ts';
import { errorEnvelope } from './schema.ts';
import { type CertificatePair, createSecureListener, type SecureListener } from './secure-listener.ts';
import { serveRoute } from './serve-route.ts';
import { sessionToken } from './session.ts';
import { traceRequests } from './traced-requests.ts';
import { requireHost, unreadableAnswer } from './unreadable.ts';

/** Error statuses of pages outside the API and of unknown paths. */
const PAGE_ERRORS: readonly ErrorStatus[] = [400, 403, 404, 429, 503];

export interface ServerParts {
  config: Pick<Config, 'publicUrl' | 'trustProxy' | 'hstsSeconds'>;
  routes: Route[];
  portalRoutes: Route[];
  gate: Gate;
  /** Without it, `Idempotency-Key` and `If-Match` are ignored. */
  idempotency?: Idempotency;
  certificate: CertificatePair;
  connections: SocketLimiter;
  random: Randomness;
  log: Logger;
  /** Called with each answered request, except {@link isMeasured those that would hide the others}. */
  onAnswered?: (request: { method: string; route: string; status: number; seconds: number }) => void;
  /** Absent if traces are off. */
  tracing?: Pick<Tracing, 'request'> | undefined;
  /** Each adds pages of the portal. None has hooks that other pages must not have. */
  pages: ((app: FastifyInstance) => Promise<void>)[];
}

export interface ApiServer {
  app: FastifyInstance;
  listener: SecureListener;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The declared endpoint; absent on pages outside the API. */
    route?: Route;
    /** A "not found" page. Counts against the anonymous rate limit, like every unknown path. */
    isNothing?: boolean;
  }
}

/**
 * Creates the server. Order of a request: cross-origin headers → HTTPS check → gate (limits and authentication) → JSON body
 * → the route's checks → its service → serialisation by the response schema.
 */
export async function createServer(parts: ServerParts): Promise<ApiServer> {
  const { config, gate, log } = parts;
  let listener: SecureListener | undefined;
  const app = fastify({
    serverFactory: (handler) => {
      listener = createSecureListener(
        requireHost(handler),
        parts.certificate,
        unreadableAnswer(),
        parts.connections,
      );
      return listener.https;
    },
    // A slow machine may need more than Fastify's 10 s to load plugins at boot. A restart would only take longer.
    pluginTimeout: 0,
    genReqId: () => parts.random.uuid(),
    requestIdHeader: false,
    // Fastify calls this at each access to `request.ip`, so there is no function if no proxy is trusted.
    trustProxy:
      config.trustProxy.length > 0 && ((address: string) => trustsAddress(config.trustProxy, address)),
    // The listener answers client errors, because it also serves plain HTTP.
    clientErrorHandler: () => {},
    forceCloseConnections: false,
    return503OnClosing: false,
    schemaController: { compilersFactory: { buildSerializer: lazySerializers() } },
    rewriteUrl: ({ url = '/' }) => routableTarget(url),
    // Unreachable: routableTarget makes every target decodable, and parameters may be as long as all headers.
    frameworkErrors: (_error, request, reply) => answerFailure(new NotFound(), PAGE_ERRORS, request, reply),
    routerOptions: {
      ignoreTrailingSlash: true,
      ignoreDuplicateSlashes: true,
      maxParamLength: maxHeaderSize,
    },
  });
  // The routes validate requests against the same schemas, with the specification's messages.
  app.setValidatorCompiler(() => () => true);
  app.addSchema(errorEnvelope);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', async (request: FastifyRequest, payload: IncomingMessage) =>
    readBodyOrFailure(request.headers['content-type'], payload, largestBody(request)),
  );

  if (parts.tracing !== undefined) traceRequests(app, parts.tracing, config, isMeasured);
  // Hooks of every request take a callback, because a promise for each would cost more than their work.
  app.addHook('onRequest', (request, reply, done) => whenDone(arrive(request, reply), done));
  if (log.isLevelEnabled('info')) {
    // The lines of requests have no fields that need redaction, which costs more than the rest of the line.
    const accessLog = log.child({}, { redact: [] });
    app.addHook('onResponse', (request, reply, done) => {
      logRequest(accessLog, request, reply);
      done();
    });
  }
  const { onAnswered } = parts;
  if (onAnswered !== undefined) {
    app.addHook('onResponse', (request, reply, done) => {
      const route = request.routeOptions.url ?? 'none';
      if (isMeasured(route, reply)) {
        const { method } = request;
        onAnswered({ method, route, status: reply.statusCode, seconds: reply.elapsedTime / 1000 });
      }
      done();
    });
  }
  app.setErrorHandler((error, request, reply) => {
    const listed = request.endpoint?.errors ?? PAGE_ERRORS;
    answerFailure(asFailure(error, request), listed, request, reply);
  });
  app.setNotFoundHandler((request, reply) => answerFailure(new NotFound(), PAGE_ERRORS, request, reply));

  const routes = withConventions(parts.routes);
  const description = describeApi(config.publicUrl, routes);
  addDocsPage(app);
  await app.register(
    async (portal) => {
      const portalRoutes = withEntityTags(parts.portalRoutes);
      const own = describePortal(config.publicUrl, portalRoutes);
      portal.addHook('onRequest', (request, reply) => gate.enterPortal(request, reply));
      for (const route of [...portalRoutes, own]) {
        serveRoute(portal, withCompression(route), {
          publicUrl: config.publicUrl,
          gate,
          idempotency: parts.idempotency,
        });
      }
    },
    { prefix: PORTAL_PREFIX },
  );
  await app.register(
    async (api) => {
      api.addHook('onRequest', (request, reply, done) => whenDone(gate.enter(request, reply), done));
      for (const route of [...routes, ...withConventions([description])]) {
        serveRoute(api, route, { publicUrl: config.publicUrl, gate, idempotency: parts.idempotency });
      }
      api.options('/*', async (_request, reply) => reply.code(204).send());
    },
    { prefix: API_PREFIX },
  );
  // `register` would search all loaded modules for a name of each.
  for (const add of parts.pages) await add(app);
  await app.ready();
  if (!listener) throw new Error('the framework made no server');
  return { app, listener };

  /** First hook of every request, including unknown paths. */
  function arrive(request: FastifyRequest, reply: FastifyReply): Promise<void> | undefined {
    reply.header('x-request-id', request.id);
    reply.header('x-content-type-options', 'nosniff');
    // Fastify creates this object at each access.
    const { route, isNothing } = request.routeOptions.config;
    request.endpoint = route;
    const isApi = request.url.startsWith(API_PREFIX) || parseTarget(request.url).path.startsWith(API_PREFIX);
    if (route || isApi) privateHeaders(reply);
    // Other origins must not read answers to requests with a session cookie.
    if (isApi && sessionToken(request) === undefined) crossOriginHeaders(request, reply);
    if (!isHttps(request.raw, config.trustProxy)) {
      reply.header('connection', 'close');
      throw new HttpsRequired();
    }
    // After the HTTPS check: a server must not send this header over plain HTTP (RFC 6797, section 7.2).
    if (config.hstsSeconds > 0) reply.header('strict-transport-security', `max-age=${config.hstsSeconds}`);
    if (request.is404 || (route && route.body === undefined)) ignoreBody(request);
    return request.is404 || isNothing ? gate.anonymous(request, reply) : undefined;
  }

  function answerFailure(
    error: unknown,
    listed: readonly ErrorStatus[],
    request: FastifyRequest,
    reply: FastifyReply,
  ): void {
    const answer = errorAnswer(error, listed);
    if (answer.status >= 500 && !(error instanceof ClientLeft))
      log.error({ err: error, request_id: request.id }, 'a request failed unexpectedly');
    if (answer.status === 401 && asksForBasic(request)) {
      reply.header('www-authenticate', 'Basic realm="Homeport", charset="UTF-8"');
    }
    if (answer.retryAfterSeconds !== undefined) reply.header('retry-after', answer.retryAfterSeconds);
    reply.code(answer.status).type('application/json; charset=utf-8').send(answer.envelope);
  }
}

/** Streams of events last as long as their readers stay, and balancers ask about health all the time: no one waits for an answer. */
function isMeasured(route: string, reply: FastifyReply): boolean {
  return reply.getHeader('content-type') !== EVENT_STREAM && !HEALTH_PATHS.some((path) => path === route);
}

/** Calls `done` at once if there is nothing to wait for. */
function whenDone(work: Promise<void> | undefined, done: (error?: Error) => void): void {
  if (work === undefined) done();
  else work.then(() => done(), done);
}

const BODY_HEADERS = ['content-type', 'content-length', 'transfer-encoding'];

/** Hides a body from Fastify, so that endpoints without one accept any body. */
function ignoreBody(request: FastifyRequest): void {
  const { headers } = request;
  // `delete` makes later reads of the object slow, so this deletes only headers that are present.
  for (const name of BODY_HEADERS) if (headers[name] !== undefined) delete headers[name];
}

/** Caches must not keep answers: one of them contains a private key. */
function privateHeaders(reply: FastifyReply): void {
  reply.header('cache-control', 'no-store');
}

/** Request headers that pages of other origins may send. */
const ALLOWED_HEADERS = 'Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match';

function crossOriginHeaders(request: FastifyRequest, reply: FastifyReply): void {
  reply.header('access-control-allow-origin', '*');
  // Includes ETag, Location, Retry-After and the rate limits.
  reply.header('access-control-expose-headers', '*');
  if (request.method === 'OPTIONS') {
    reply.header('access-control-allow-headers', ALLOWED_HEADERS);
    reply.header('access-control-allow-methods', 'GET, POST, PATCH, DELETE');
    reply.header('access-control-max-age', '600');
  }
}

/** Whether a 401 asks for Basic credentials. Not for requests of the portal, because the browser would open a password dialog. */
function asksForBasic(request: FastifyRequest): boolean {
  const { path } = parseTarget(request.url);
  return path.startsWith(API_PREFIX) && request.headers['sec-fetch-site'] !== 'same-origin';
}

/** Maps Fastify's 4xx errors (a truncated body, a bad header) to InvalidRequest. */
function asFailure(error: unknown, request: FastifyRequest): unknown {
  if (error instanceof Failure) return error;
  if (request.is404) return new NotFound();
  const status: unknown = error instanceof Error ? Reflect.get(error, 'statusCode') : undefined;
  return typeof status === 'number' && status >= 400 && status < 500
    ? new InvalidRequest(INVALID_PARAMETERS)
    : error;
}

function logRequest(log: Logger, request: FastifyRequest, reply: FastifyReply): void {
  log.info(
    {
      request_id: request.id,
      method: request.method,
      // The route instead of the URL: links contain tokens, and queries may contain personal data.
      route: request.routeOptions.url ?? 'none',
      status: reply.statusCode,
      ms: Math.round(reply.elapsedTime * 10) / 10,
      address: request.ip,
      credential: request.caller?.origin.credentialId ?? undefined,
      session: request.session?.id,
    },
    'request',
  );
}

/** The limit of the request's body; lower on endpoints without a session. */
function largestBody(request: FastifyRequest): number {
  return request.endpoint?.stages === 'anybody' ? LARGEST_BODY_OF_STRANGERS_BYTES : LARGEST_BODY_BYTES;
}
