import { withConventions, withEntityTags } from '../src/api/conventions.ts';
import { describeApi, describePortal } from '../src/api/description.ts';
import { openApiDocument } from '../src/api/openapi-document.ts';
import { API_PREFIX, PORTAL_PREFIX } from '../src/api/prefixes.ts';
import type { Route } from '../src/api/route.ts';
import type { RunningHomeport } from '../src/app/homeport.ts';
import { apiRoutes, portalRoutes } from '../src/app/routes.ts';
import { type Conformance, conformanceTo } from './conformance.ts';

let ofApi: Conformance | undefined;
let ofPortal: Conformance | undefined;

/** The check of the API's responses. All servers declare the same schemas, so it is compiled once and without a request. */
export function apiConformance({
  platform,
  services,
}: Pick<RunningHomeport, 'platform' | 'services'>): Conformance {
  ofApi ??= conformanceOf((url) => {
    const routes = withConventions(apiRoutes(platform, services));
    return [...routes, ...withConventions([describeApi(url, routes)])];
  }, API_PREFIX);
  return ofApi;
}

/** As {@link apiConformance}, for the portal's endpoints. */
export function portalConformance({ services }: Pick<RunningHomeport, 'services'>): Conformance {
  ofPortal ??= conformanceOf((url) => {
    const routes = withEntityTags(portalRoutes(services));
    return [...routes, describePortal(url, routes)];
  }, PORTAL_PREFIX);
  return ofPortal;
}

function conformanceOf(routesAt: (url: string) => Route[], prefix: string): Conformance {
  const server = 'https://localhost';
  const info = { title: 'Homeport', version: '1', description: '' };
  const document = openApiDocument(routesAt(server), { info, server, securitySchemes: {} });
  return conformanceTo(JSON.parse(JSON.stringify(document)), prefix);
}
