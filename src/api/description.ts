import type { FastifySchema } from 'fastify';
import { openApiDocument } from './openapi-document.ts';
import { API_PREFIX, PORTAL_PREFIX } from './prefixes.ts';
import { publicRoute, type Route } from './route.ts';
import { component, Type } from './schema.ts';
import { SESSION_COOKIE } from './session.ts';
import { visitRoute } from './visit-route.ts';

/** The groups of the operations, in the order of the pages. */
const API_TAGS = [
  { name: 'Service', description: 'The status of the service, and this description' },
  { name: 'User', description: 'The user of the credential' },
  { name: 'Accounts', description: 'Accounts own sites, installs and users' },
  { name: 'Account users', description: 'The members of an account and their roles' },
  { name: 'Sites', description: 'A site groups up to one install for each environment' },
  { name: 'Installs', description: 'An install is one website' },
  { name: 'WordPress', description: 'WordPress, plugins and themes of an install, and their updates' },
  { name: 'Domains', description: 'The host names of an install, their DNS and their ownership' },
  { name: 'Certificates', description: 'The TLS certificates of the domains' },
  { name: 'Backups', description: 'Verified copies of an install' },
  { name: 'Caches', description: 'The caches of an install' },
  { name: 'Rules', description: 'Who may visit a website, redirects of paths, and rules of the page cache' },
  { name: 'Logs', description: 'Requests, errors, scheduled tasks and messages of an install' },
  { name: 'Offload', description: 'Files that a bucket serves' },
  { name: 'SSH keys', description: 'Keys for SFTP connections' },
  { name: 'Notifications', description: 'The inbox of the user, and which emails they get' },
];

/** The version of the published description (specification, Versioning). */
const DESCRIPTION_VERSION = '1.17.0';

const openApiDocumentSchema = component(
  'OpenApiDocument',
  Type.Unsafe<object>({ description: 'An OpenAPI document' }),
  { openapi: '3.1.0', info: { title: 'Homeport Hosting Customer API', version: DESCRIPTION_VERSION } },
);

/** The OpenAPI document of the API: these routes and `GET /swagger`. */
export function apiDocument(publicUrl: string, routes: readonly Route[]): object {
  return openApiDocument([...routes, swaggerRoute(() => ({}))], {
    info: {
      title: 'Homeport Hosting Customer API',
      version: DESCRIPTION_VERSION,
      description:
        'Hosting accounts, users, sites, installs, domains, certificates, backups, caches and SSH keys.',
    },
    server: `${publicUrl}${API_PREFIX}`,
    tags: API_TAGS,
    securitySchemes: { basic: { type: 'http', scheme: 'basic' } },
  });
}

/** Declares `GET /swagger`, which describes the routes in an OpenAPI document. */
export function describeApi(publicUrl: string, routes: readonly Route[]): Route {
  return swaggerRoute(once(() => apiDocument(publicUrl, routes)));
}

const swaggerRoute = (render: () => object): Route =>
  publicRoute({
    method: 'GET',
    path: '/swagger',
    operationId: 'swagger',
    summary: 'Get this description',
    description: 'Returns this OpenAPI 3.1 document. Needs no authentication.',
    tag: 'Service',
    errors: [429, 503],
    success: 200,
    response: openApiDocumentSchema,
    handle: async () => render(),
  });

/** The OpenAPI document of the portal: these routes and `/portal/api/description`. */
export function portalDocument(publicUrl: string, routes: readonly Route[]): object {
  return openApiDocument([...routes, portalDescriptionRoute(() => ({}))], {
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
}

/** Declares `/portal/api/description`, which describes the portal's endpoints. */
export function describePortal(publicUrl: string, routes: readonly Route[]): Route {
  return portalDescriptionRoute(once(() => portalDocument(publicUrl, routes)));
}

const portalDescriptionRoute = (render: () => object): Route =>
  visitRoute({
    method: 'GET',
    path: '/description',
    operationId: 'describePortal',
    summary: 'This description, OpenAPI 3.1',
    tag: 'Portal',
    errors: [429, 503],
    stages: 'anybody',
    success: 200,
    response: Type.Unknown({ description: 'An OpenAPI document' }),
    handle: async () => render(),
  });

/** Renders a document at its first request. */
function once(render: () => object): () => object {
  let rendered: object | undefined;
  return () => {
    rendered ??= render();
    return rendered;
  };
}

const ERROR = { $ref: 'Error#' };

/**
 * The route's schemas for Fastify, which compiles serialisers from them. By classes of statuses, because objects with the numbers of all
 * statuses take a third of the server's memory for routes.
 */
export function routeSchema(route: Route): FastifySchema {
  const ok = route.response && route.contentType === undefined ? { '2xx': route.response } : {};
  return { response: { ...ok, '4xx': ERROR, '5xx': ERROR } };
}
