import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { AddressRange, Config } from '../config.ts';
import { Forbidden, InvalidRequest, NotFound } from '../failures.ts';
import type { Randomness } from '../ids.ts';
import { isHttps, trustsAddress } from './client-address.ts';
import { describeApi, routeSchema } from './description.ts';
import { type ErrorStatus, errorAnswer } from './errors.ts';
import type { Gate } from './gate.ts';
import { readJsonBody } from './json-body.ts';
import type { Route } from './route.ts';
import { errorEnvelope } from './schema.ts';
import { type CertificatePair, createSecureListener, type SecureListener } from './secure-listener.ts';

/** Where the API lives below the public URL. */
export const API_PREFIX = '/v1';

export interface ServerParts {
  config: Pick<Config, 'publicUrl' | 'trustProxy'>;
  routes: Route[];
  gate: Gate;
  certificate: CertificatePair;
  random: Randomness;
  log: Logger;
  /** Further pages outside `/v1` (documents, invitations). */
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
      listener = createSecureListener(handler, parts.certificate, answerUnreadable);
      return listener.https;
    },
    genReqId: () => parts.random.uuid(),
    requestIdHeader: false,
    trustProxy: (address) => trustsAddress(config.trustProxy, address),
    forceCloseConnections: false,
    return503OnClosing: false,
    frameworkErrors: (_error, request, reply) => answerFailure(new NotFound(), [404], request, reply),
    routerOptions: { ignoreTrailingSlash: true, ignoreDuplicateSlashes: true, maxParamLength: 10_000 },
  });
  // The routes check what comes in themselves, against the same schemas, in one pass and with the specification's words.
  app.setValidatorCompiler(() => () => true);
  app.addSchema(errorEnvelope);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', async (request: FastifyRequest, payload: IncomingMessage) =>
    readJsonBody(request.headers['content-type'], payload),
  );

  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id);
    requireHttps(request, config.trustProxy);
    if (request.routeOptions.config.route && request.routeOptions.config.route.body === undefined) {
      ignoreBody(request);
    }
  });
  app.addHook('onResponse', async (request, reply) => logRequest(log, request, reply));
  app.setErrorHandler((error, request, reply) => {
    const listed = request.routeOptions.config.route?.errors ?? [400, 403, 404, 429, 503];
    answerFailure(asFailure(error), listed, request, reply);
  });
  app.setNotFoundHandler(
    { preHandler: async (request: FastifyRequest, reply: FastifyReply) => gate.anonymous(request, reply) },
    async (request, reply) => answerFailure(new NotFound(), [404], request, reply),
  );

  const description = await describeApi(app, config.publicUrl);
  await app.register(
    async (api) => {
      api.addHook('onRequest', async (request, reply) => {
        crossOrigin(request, reply);
        await gate.enter(request, reply);
      });
      for (const route of [...parts.routes, description.route]) addRoute(api, route, config.publicUrl);
      api.options('/*', async (_request, reply) => reply.code(204).send());
    },
    { prefix: API_PREFIX },
  );
  await parts.pages(app);
  await app.ready();
  if (!listener) throw new Error('the framework made no server');
  return { app, listener };

  function answerFailure(
    error: unknown,
    listed: readonly ErrorStatus[],
    request: FastifyRequest,
    reply: FastifyReply,
  ): void {
    const answer = errorAnswer(error, listed);
    if (answer.status >= 500)
      log.error({ err: error, request_id: request.id }, 'a request failed unexpectedly');
    if (answer.status === 401) reply.header('www-authenticate', 'Basic realm="Homeport", charset="UTF-8"');
    if (answer.retryAfterSeconds !== undefined) reply.header('retry-after', answer.retryAfterSeconds);
    if (request.url.startsWith(API_PREFIX)) crossOrigin(request, reply);
    reply.code(answer.status).type('application/json; charset=utf-8').send(answer.envelope);
  }
}

function addRoute(api: FastifyInstance, route: Route, publicUrl: string): void {
  api.route({
    method: route.method,
    url: route.path,
    config: { route },
    schema: routeSchema(route),
    async handler(request, reply) {
      const mark = request.url.indexOf('?');
      const answer = await route.run(
        {
          actor: request.actor ?? null,
          params: stringParams(request.params),
          query: new URLSearchParams(mark === -1 ? '' : request.url.slice(mark)),
          path: canonicalPath(mark === -1 ? request.url : request.url.slice(0, mark)),
          body: request.body,
          requestId: request.id,
        },
        publicUrl,
      );
      reply.code(route.success);
      return reply.send(answer);
    },
  });
}

function stringParams(params: unknown): Record<string, string> {
  if (typeof params !== 'object' || params === null) return {};
  return Object.fromEntries(Object.entries(params).map(([name, value]) => [name, String(value)]));
}

/** `/v1//installs/` and `/v1/installs` are one resource, and links name it by its proper path. */
function canonicalPath(path: string): string {
  return path.replace(/\/{2,}/g, '/').replace(/\/$/, '');
}

function requireHttps(request: FastifyRequest, trusted: AddressRange[]): void {
  if (!isHttps(request.raw, trusted)) throw new HttpsRequired();
}

/** Said as it stands whatever the endpoint lists: the request never got as far as an endpoint. */
class HttpsRequired extends Forbidden {
  override message = 'HTTPS is required';
}

/** An endpoint without a request body does not care what a client sends as one. */
function ignoreBody(request: FastifyRequest): void {
  for (const name of ['content-type', 'content-length', 'transfer-encoding']) delete request.headers[name];
}

function crossOrigin(request: FastifyRequest, reply: FastifyReply): void {
  reply.header('access-control-allow-origin', '*');
  reply.header('access-control-expose-headers', '*');
  if (request.method === 'OPTIONS') {
    reply.header('access-control-allow-headers', 'Authorization, Content-Type');
    reply.header('access-control-allow-methods', 'GET, POST, PATCH, DELETE');
    reply.header('access-control-max-age', '600');
  }
}

/** What the framework itself refuses (a body cut short, a bad header) is the client's fault, and said so. */
function asFailure(error: unknown): unknown {
  const status: unknown = error instanceof Error ? Reflect.get(error, 'statusCode') : undefined;
  return typeof status === 'number' && status >= 400 && status < 500
    ? new InvalidRequest('Bad request - invalid parameters')
    : error;
}

/** Answers bytes that are no HTTP request, below the framework. */
function answerUnreadable(_error: Error, socket: Socket): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const body = JSON.stringify({ message: 'Bad request - invalid parameters' });
  socket.end(
    `HTTP/1.1 400 Bad Request\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
  );
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
      credential: request.actor?.credentialId,
    },
    'request',
  );
}
