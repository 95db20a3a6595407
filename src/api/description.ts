import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance, FastifySchema } from 'fastify';
import { INVALID_PARAMETERS } from '../lib/failures.ts';
import type { ErrorStatus } from './errors.ts';
import { API_PREFIX } from './prefixes.ts';
import { publicRoute, type Route } from './route.ts';
import { Type } from './schema.ts';
import { SESSION_COOKIE } from './session.ts';
import { visitRoute } from './visit-route.ts';

declare module 'fastify' {
  interface FastifyInstance {
    portalDescription(): unknown;
  }
}

/** The version of the published description (specification, Versioning). */
const DESCRIPTION_VERSION = '1.6.15';

/** The page loads from and connects to this server only. Its library sets inline styles. */
const PAGE_POLICY =
  "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; object-src 'none'; base-uri 'none'; " +
  "form-action 'none'; frame-ancestors 'none'";

const STATUS_MEANINGS: Record<ErrorStatus, string> = {
  400: INVALID_PARAMETERS,
  401: 'Invalid or missing credentials',
  403: 'Insufficient permissions',
  404: 'Resource not found',
  429: 'Rate limit exceeded',
  500: 'Internal server error',
  503: 'Service temporarily unavailable',
};

const SUCCESS_MEANINGS = { 200: 'OK', 201: 'Created', 202: 'Accepted', 204: 'Done' };

const refResolver = {
  buildLocalReference: (json: { $id?: unknown }, _base: unknown, _fragment: unknown, index: number) =>
    String(json.$id ?? `def-${index}`),
};

export interface ApiDescription {
  /** Serves the OpenAPI document. */
  route: Route;
}

/**
 * Generates the OpenAPI description from the declared routes, and serves a page to browse it at `/docs`. Call before
 * adding the routes.
 */
export async function describeApi(app: FastifyInstance, publicUrl: string): Promise<ApiDescription> {
  await app.register(swagger, {
    // The portal's endpoints have a separate description.
    transform: ({ schema, url }) => ({
      schema: url.startsWith(`${API_PREFIX}/`) ? schema : { ...schema, hide: true },
      url: url.startsWith(API_PREFIX) ? url.slice(API_PREFIX.length) : url,
    }),
    // The transform above removes the prefix, also if the public URL has a path.
    stripBasePath: false,
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Homeport Hosting Customer API',
        version: DESCRIPTION_VERSION,
        description:
          'Hosting accounts, users, sites, installs, domains, certificates, backups, caches and SSH keys.',
      },
      servers: [{ url: `${publicUrl}${API_PREFIX}` }],
      components: { securitySchemes: { basic: { type: 'http', scheme: 'basic' } } },
      security: [{ basic: [] }],
    },
    refResolver,
  });
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    staticCSP: PAGE_POLICY,
    uiConfig: { docExpansion: 'none', validatorUrl: null },
  });
  let rendered: unknown;
  return {
    route: publicRoute({
      method: 'GET',
      path: '/swagger',
      summary: 'This description, OpenAPI 3.1',
      tag: 'Service',
      errors: [429, 503],
      success: 200,
      response: Type.Unknown({ description: 'An OpenAPI document' }),
      handle: async () => {
        rendered ??= app.swagger();
        return rendered;
      },
    }),
  };
}

/** Describes the portal's endpoints at `/portal/api/description`. Call with their scope, before adding them. */
export async function describePortal(app: FastifyInstance, publicUrl: string): Promise<ApiDescription> {
  await app.register(swagger, {
    decorator: 'portalDescription',
    stripBasePath: false,
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Homeport portal',
        version: '1',
        description:
          'Endpoints that the portal uses besides the API: sign-in, second factor, credentials, invitations, activity, live changes.',
      },
      servers: [{ url: publicUrl }],
      components: {
        securitySchemes: { session: { type: 'apiKey', in: 'cookie', name: SESSION_COOKIE } },
      },
      security: [{ session: [] }],
    },
    refResolver,
  });
  let rendered: unknown;
  return {
    route: visitRoute({
      method: 'GET',
      path: '/description',
      summary: 'This description, OpenAPI 3.1',
      tag: 'Portal',
      errors: [429, 503],
      stages: 'anybody',
      success: 200,
      response: Type.Unknown({ description: 'An OpenAPI document' }),
      handle: async () => {
        rendered ??= app.portalDescription();
        return rendered;
      },
    }),
  };
}

/** The route's schema for Fastify, which serialises answers and generates the description from it. */
export function routeSchema(route: Route): FastifySchema {
  const names = [...route.path.matchAll(/:(\w+)/g)].map((match) => match[1] ?? '');
  const response: Record<number, unknown> = {};
  for (const status of route.errors) response[status] = content(STATUS_MEANINGS[status], { $ref: 'Error#' });
  response[route.success] = route.response
    ? content(SUCCESS_MEANINGS[route.success], route.response, route.contentType)
    : { type: 'null', description: SUCCESS_MEANINGS[route.success] };
  return {
    summary: route.summary,
    tags: [route.tag],
    operationId: operationId(route),
    ...(route.public || route.stages === 'anybody' ? { security: [] } : {}),
    ...(names.length > 0 ? { params: pathParameters(names, route.plainIds) } : {}),
    ...(route.query.length > 0 ? { querystring: queryOf(route.query) } : {}),
    ...(route.body ? { body: route.body.schema } : {}),
    response,
  };
}

function content(description: string, schema: unknown, contentType = 'application/json'): object {
  return { description, content: { [contentType]: { schema } } };
}

/** Path parameters are UUIDs, except `plain` identifiers and the tokens of links. */
function pathParameters(names: readonly string[], plain = false): object {
  const schemaOf = (name: string) =>
    plain || name === 'token' ? { type: 'string' } : { type: 'string', format: 'uuid' };
  return {
    type: 'object',
    required: names,
    properties: Object.fromEntries(names.map((name) => [name, schemaOf(name)])),
  };
}

function queryOf(parameters: Route['query']): object {
  return {
    type: 'object',
    properties: Object.fromEntries(parameters.map(({ name, schema }) => [name, schema])),
  };
}

/** `GET /installs/:install_id/domains` is `get_installs_install_id_domains`. */
function operationId(route: Route): string {
  return `${route.method.toLowerCase()}${route.path.replaceAll(/[/:]+/g, '_')}`;
}
