import { type IncomingMessage, maxHeaderSize } from 'node:http';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import { Failure, HttpsRequired, INVALID_PARAMETERS, InvalidRequest, NotFound } from '../lib/failures.ts';
import type { Randomness } from '../lib/ids.ts';
import type { SocketLimiter } from '../network/connections/socket-limiter.ts';
import { isHttps, trustsAddress } from './client-address.ts';
import { describeApi, describePortal, routeSchema } from './description.ts';
import { type ErrorStatus, errorAnswer } from './errors.ts';
import type { Gate } from './gate.ts';
import {
  LARGEST_BODY_BYTES,
  LARGEST_BODY_OF_STRANGERS_BYTES,
  readBodyOrFailure,
  UnreadableBody,
} from './json-body.ts';
import { API_PREFIX, PORTAL_PREFIX } from './prefixes.ts';
import { parseTarget, routableTarget } from './request-target.ts';
import type { Route } from './route.ts';
import { errorEnvelope } from './schema.ts';
import { type CertificatePair, createSecureListener, type SecureListener } from './secure-listener.ts';
import { browserCookies, deviceToken, sessionToken } from './session.ts';
import { StreamedAnswer } from './stream-route.ts';
import { requireHost, unreadableAnswer } from './unreadable.ts';

/** What pages outside the API, and requests that lead nowhere, may be answered with. */
const PAGE_ERRORS: readonly ErrorStatus[] = [400, 403, 404, 429, 503];

export interface ServerParts {
  config: Pick<Config, 'publicUrl' | 'trustProxy' | 'hstsSeconds'>;
  routes: Route[];
  portalRoutes: Route[];
  gate: Gate;
  certificate: CertificatePair;
  connections: SocketLimiter;
  random: Randomness;
  log: Logger;
  /** Further pages outside both (the portal's own). */
  pages: (app: FastifyInstance) => Promise<void>;
}

export interface ApiServer {
  app: FastifyInstance;
  listener: SecureListener;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The declared endpoint; absent on pages outside the API. */
    route?: Route;
    /** Nothing is there, although a page says so: who asks is counted as wherever a request leads nowhere. */
    isNothing?: boolean;
  }
}

/**
 * The order of a request, top to bottom: HTTPS only → cross-origin headers → limits and authentication (gate) → JSON
 * body → the route's own checks → its service → serialised by the route's response schema.
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
    // A slow machine may need longer than Fastify's 10 s for its plugins at boot; to give up there only makes the start longer.
    pluginTimeout: 0,
    genReqId: () => parts.random.uuid(),
    requestIdHeader: false,
    // Asked at each look at an address, so not asked at all where nobody is trusted.
    trustProxy:
      config.trustProxy.length > 0 && ((address: string) => trustsAddress(config.trustProxy, address)),
    // The listener answers those itself, the ones by plain HTTP too.
    clientErrorHandler: () => {},
    forceCloseConnections: false,
    return503OnClosing: false,
    rewriteUrl: ({ url = '/' }) => routableTarget(url),
    // With targets that can be decoded, and parameters that may be as long as all headers, nothing is left for this.
    frameworkErrors: (_error, request, reply) => answerFailure(new NotFound(), PAGE_ERRORS, request, reply),
    routerOptions: {
      ignoreTrailingSlash: true,
      ignoreDuplicateSlashes: true,
      maxParamLength: maxHeaderSize,
    },
  });
  // The routes check what comes in themselves, against the same schemas, in one pass and with the specification's words.
  app.setValidatorCompiler(() => () => true);
  app.addSchema(errorEnvelope);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', async (request: FastifyRequest, payload: IncomingMessage) =>
    readBodyOrFailure(request.headers['content-type'], payload, largestBody(request)),
  );

  app.addHook('onRequest', arrive);
  app.addHook('onResponse', async (request, reply) => logRequest(log, request, reply));
  app.setErrorHandler((error, request, reply) => {
    const { route } = request.routeOptions.config;
    answerFailure(asFailure(error, request), route?.errors ?? PAGE_ERRORS, request, reply);
  });
  app.setNotFoundHandler((request, reply) => answerFailure(new NotFound(), PAGE_ERRORS, request, reply));

  const description = await describeApi(app, config.publicUrl);
  await app.register(
    async (portal) => {
      const own = await describePortal(portal, config.publicUrl);
      portal.addHook('onRequest', (request, reply) => gate.enterPortal(request, reply));
      for (const route of [...parts.portalRoutes, own.route]) addRoute(portal, route, config.publicUrl);
    },
    { prefix: PORTAL_PREFIX },
  );
  await app.register(
    async (api) => {
      api.addHook('onRequest', (request, reply) => gate.enter(request, reply));
      for (const route of [...parts.routes, description.route]) addRoute(api, route, config.publicUrl);
      api.options('/*', { schema: { hide: true } }, async (_request, reply) => reply.code(204).send());
    },
    { prefix: API_PREFIX },
  );
  await parts.pages(app);
  await app.ready();
  if (!listener) throw new Error('the framework made no server');
  return { app, listener };

  /** What every request meets first, wherever it leads. */
  async function arrive(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    reply.header('x-request-id', request.id);
    reply.header('x-content-type-options', 'nosniff');
    const { route, isNothing } = request.routeOptions.config;
    const { path } = parseTarget(request.url);
    if (route || path.startsWith(API_PREFIX)) privateHeaders(reply);
    // What a cookie lets in is for the portal's own pages alone.
    if (path.startsWith(API_PREFIX) && sessionToken(request) === undefined)
      crossOriginHeaders(request, reply);
    if (!isHttps(request.raw, config.trustProxy)) {
      reply.header('connection', 'close');
      throw new HttpsRequired();
    }
    // Not before: by plain HTTP browsers must not heed it (RFC 6797, section 7.2).
    if (config.hstsSeconds > 0) reply.header('strict-transport-security', `max-age=${config.hstsSeconds}`);
    if (request.is404 || (route && route.body === undefined)) ignoreBody(request);
    if (request.is404 || isNothing) await gate.anonymous(request, reply);
  }

  function answerFailure(
    error: unknown,
    listed: readonly ErrorStatus[],
    request: FastifyRequest,
    reply: FastifyReply,
  ): void {
    const answer = errorAnswer(error, listed);
    if (answer.status >= 500)
      log.error({ err: error, request_id: request.id }, 'a request failed unexpectedly');
    if (answer.status === 401 && asksForBasic(request)) {
      reply.header('www-authenticate', 'Basic realm="Homeport", charset="UTF-8"');
    }
    if (answer.retryAfterSeconds !== undefined) reply.header('retry-after', answer.retryAfterSeconds);
    reply.code(answer.status).type('application/json; charset=utf-8').send(answer.envelope);
  }
}

function addRoute(api: FastifyInstance, route: Route, publicUrl: string): void {
  api.route({
    method: route.method,
    url: route.path,
    config: { route },
    schema: routeSchema(route),
    // A stream would run on with nobody to read it.
    exposeHeadRoute: route.contentType === undefined,
    async handler(request, reply) {
      if (request.body instanceof UnreadableBody) throw request.body.failure;
      const answer = await route.run(
        {
          caller: request.caller ?? null,
          session: request.session ?? null,
          visitor: {
            address: request.ip,
            userAgent: request.headers['user-agent'] ?? null,
            device: deviceToken(request) ?? null,
          },
          cookies: browserCookies(reply),
          params: stringParams(request.params),
          target: request.url,
          body: request.body,
          requestId: request.id,
        },
        publicUrl,
      );
      reply.code(route.success);
      if (answer instanceof StreamedAnswer) {
        return reply
          .type(route.contentType ?? '')
          .headers(answer.headers)
          .send(answer.body);
      }
      return reply.send(answer);
    },
  });
}

function stringParams(params: unknown): Record<string, string> {
  if (typeof params !== 'object' || params === null) return {};
  return Object.fromEntries(Object.entries(params).map(([name, value]) => [name, String(value)]));
}

const BODY_HEADERS = ['content-type', 'content-length', 'transfer-encoding'];

/** What reads no request body does not care what a client sends as one. */
function ignoreBody(request: FastifyRequest): void {
  const { headers } = request;
  // Deleting makes the object slow for all who read it after, so only what is there is deleted.
  for (const name of BODY_HEADERS) if (headers[name] !== undefined) delete headers[name];
}

/** Answers are for whoever asked, and are kept nowhere on the way: one of them holds a private key. */
function privateHeaders(reply: FastifyReply): void {
  reply.header('cache-control', 'no-store');
}

function crossOriginHeaders(request: FastifyRequest, reply: FastifyReply): void {
  reply.header('access-control-allow-origin', '*');
  reply.header('access-control-expose-headers', '*');
  if (request.method === 'OPTIONS') {
    reply.header('access-control-allow-headers', 'Authorization, Content-Type');
    reply.header('access-control-allow-methods', 'GET, POST, PATCH, DELETE');
    reply.header('access-control-max-age', '600');
  }
}

/** The API does. A browser that is told so over the portal's own page would open its own window for names and passwords. */
function asksForBasic(request: FastifyRequest): boolean {
  const { path } = parseTarget(request.url);
  return path.startsWith(API_PREFIX) && request.headers['sec-fetch-site'] !== 'same-origin';
}

/** What the framework itself refuses (a body cut short, a bad header) is the client's fault, and said so. */
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
      // The route and not the URL: links carry tokens, queries may carry anything.
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

/** Whoever has not signed in can make the server read, but not much. */
function largestBody(request: FastifyRequest): number {
  const { route } = request.routeOptions.config;
  return route?.stages === 'anybody' ? LARGEST_BODY_OF_STRANGERS_BYTES : LARGEST_BODY_BYTES;
}
