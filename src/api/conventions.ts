import { Pointer } from 'typebox/value';
import { INVALID_PARAMETERS, InvalidRequest } from '../lib/failures.ts';
import type { ErrorStatus } from './errors.ts';
import { parseTarget } from './request-target.ts';
import type { OperationLink, Route } from './route.ts';

/** Of the answer to unknown query parameters. */
const MOST_FAULTS = 20;
const LONGEST_NAME = 100;

/**
 * Adds the conventions of all `/v1` routes (docs/api.md, Conditional requests and Idempotent requests): entity tags, compression,
 * refusal of unknown query parameters, `Location`, and the statuses that the headers of these conventions cause.
 */
export function withConventions(routes: readonly Route[]): Route[] {
  const tagged = new Map(routes.filter(hasEntityTag).map((route) => [route.path, route]));
  return routes.map((declared) => {
    const route = withKnownQuery(declared);
    if (route.method === 'GET') return readWithConventions(route);
    const resource = route.method === 'POST' ? undefined : tagged.get(route.path);
    const statuses: ErrorStatus[] = [
      ...(resource === undefined ? [] : [412 as const]),
      ...(route.isRepeatable ? [] : [422 as const]),
    ];
    return {
      ...route,
      errors: [...new Set([...route.errors, ...statuses])],
      ...(route.isRepeatable ? {} : { idempotencyKey: true as const }),
      ...(resource === undefined ? {} : { resource }),
      ...locationOf(route, routes),
    };
  });
}

/** Gives the resources that the portal's forms change entity tags, and lets their changes depend on them by `If-Match`. */
export function withEntityTags(routes: readonly Route[]): Route[] {
  const changed = new Set(routes.filter(({ method }) => method === 'PATCH').map(({ path }) => path));
  const tagged = new Map(
    routes
      .filter((route) => hasEntityTag(route) && changed.has(route.path))
      .map((route) => [route.path, { ...route, entityTag: true as const }]),
  );
  return routes.map((route) => {
    const resource = tagged.get(route.path);
    if (resource === undefined || route.method === 'POST') return route;
    if (route.method === 'GET') return resource;
    return { ...route, resource, errors: [...new Set<ErrorStatus>([...route.errors, 412])] };
  });
}

/** Refuses unknown query parameters where the row lists 400. Otherwise they are ignored. */
function withKnownQuery(route: Route): Route {
  if (!route.errors.includes(400)) return route;
  const known = new Set(route.query.map(({ name }) => name));
  return {
    ...route,
    run(call, publicUrl) {
      if (call.target.includes('?')) requireKnown(new URLSearchParams(parseTarget(call.target).query), known);
      return route.run(call, publicUrl);
    },
  };
}

function requireKnown(query: URLSearchParams, known: ReadonlySet<string>): void {
  const unknown = [...new Set(query.keys())].filter((name) => !known.has(name)).slice(0, MOST_FAULTS);
  if (unknown.length === 0) return;
  const names = known.size === 0 ? 'none' : [...known].join(', ');
  throw new InvalidRequest(
    INVALID_PARAMETERS,
    unknown.map((name) => ({
      resource: 'Query',
      field: name.slice(0, LONGEST_NAME),
      type: 'invalid_value',
      code: 'unknown',
      message: `Unknown query parameter; this endpoint has ${names}`,
    })),
  );
}

function readWithConventions(route: Route): Route {
  return {
    ...withCompression(route),
    ...(hasEntityTag(route) ? { entityTag: true } : {}),
  };
}

/** Lets the JSON answer of a GET be compressed, unless it holds a secret (docs/decisions/http-conventions.md, Compression and BREACH). */
export function withCompression(route: Route): Route {
  const { method, contentType, isSecret } = route;
  return method === 'GET' && contentType === undefined && !isSecret
    ? { ...route, isCompressed: true }
    : route;
}

/** Answers that are one JSON document about a resource. Pages differ with each new item, and public answers with each request. */
function hasEntityTag({ method, response, contentType, isPaged, public: isPublic }: Route): boolean {
  return method === 'GET' && response !== undefined && contentType === undefined && !isPaged && !isPublic;
}

/** The path of the operation that reads what a 201 creates. Answers that start work name its operation instead. */
function locationOf(route: Route, routes: readonly Route[]): Pick<Route, 'location'> {
  const { link, success, starts } = route;
  if (link === undefined || success !== 201 || starts !== undefined) return {};
  const target = routes.find(({ operationId }) => operationId === link.operationId);
  return target === undefined
    ? {}
    : { location: (answer, params) => pathOf(target.path, link, answer, params) };
}

function pathOf(
  path: string,
  { ids }: OperationLink,
  answer: unknown,
  params: Record<string, string>,
): string {
  return path.replaceAll(/:(\w+)/g, (_, name: string) => {
    const pointer = ids[name];
    const id: unknown = pointer === undefined ? params[name] : Pointer.Get(answer, pointer);
    return encodeURIComponent(String(id));
  });
}
