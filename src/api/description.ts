import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance, FastifySchema } from 'fastify';
import { openApiDocument } from './openapi-document.ts';
import { API_PREFIX, PORTAL_PREFIX } from './prefixes.ts';
import { publicRoute, type Route } from './route.ts';
import { Type } from './schema.ts';
import { SESSION_COOKIE } from './session.ts';
import { visitRoute } from './visit-route.ts';

/** The version of the published description (specification, Versioning). */
const DESCRIPTION_VERSION = '1.6.15';

/** The page loads from and connects to this server only. Its library sets inline styles. */
const PAGE_POLICY =
  "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; object-src 'none'; base-uri 'none'; " +
  "form-action 'none'; frame-ancestors 'none'";

export interface ApiDescription {
  /** Serves the OpenAPI document. */
  route: Route;
}

/** Declares `GET /swagger` and serves a page to browse the description at `/docs`. Call before adding the routes. */
export async function describeApi(
  app: FastifyInstance,
  publicUrl: string,
  routes: readonly Route[],
): Promise<ApiDescription> {
  let rendered: object | undefined;
  const render = () => {
    rendered ??= openApiDocument([...routes, route], {
      info: {
        title: 'Homeport Hosting Customer API',
        version: DESCRIPTION_VERSION,
        description:
          'Hosting accounts, users, sites, installs, domains, certificates, backups, caches and SSH keys.',
      },
      server: `${publicUrl}${API_PREFIX}`,
      securitySchemes: { basic: { type: 'http', scheme: 'basic' } },
    });
    return rendered;
  };
  const route = publicRoute({
    method: 'GET',
    path: '/swagger',
    operationId: 'swagger',
    summary: 'This description, OpenAPI 3.1',
    tag: 'Service',
    errors: [429, 503],
    success: 200,
    response: Type.Unknown({ description: 'An OpenAPI document' }),
    handle: async () => render(),
  });
  await app.register(swagger, {
    transform: ({ schema, url }) => ({ schema: { ...schema, hide: true }, url }),
    transformObject: render,
    openapi: {},
  });
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    staticCSP: PAGE_POLICY,
    uiConfig: { docExpansion: 'none', validatorUrl: null },
  });
  return { route };
}

/** Declares `/portal/api/description`, which describes the portal's endpoints. */
export function describePortal(publicUrl: string, routes: readonly Route[]): ApiDescription {
  let rendered: object | undefined;
  const route = visitRoute({
    method: 'GET',
    path: '/description',
    operationId: 'describePortal',
    summary: 'This description, OpenAPI 3.1',
    tag: 'Portal',
    errors: [429, 503],
    stages: 'anybody',
    success: 200,
    response: Type.Unknown({ description: 'An OpenAPI document' }),
    async handle() {
      rendered ??= openApiDocument([...routes, route], {
        info: {
          title: 'Homeport portal',
          version: '1',
          description:
            'Endpoints that the portal uses besides the API: sign-in, second factor, credentials, invitations, activity, live changes.',
        },
        server: publicUrl,
        prefix: PORTAL_PREFIX,
        securitySchemes: { session: { type: 'apiKey', in: 'cookie', name: SESSION_COOKIE } },
      });
      return rendered;
    },
  });
  return { route };
}

/** The route's schemas for Fastify, which compiles serialisers from them. */
export function routeSchema(route: Route): FastifySchema {
  const response: Record<number, unknown> = {};
  for (const status of route.errors) response[status] = { $ref: 'Error#' };
  if (route.response && route.contentType === undefined) response[route.success] = route.response;
  return { response };
}
