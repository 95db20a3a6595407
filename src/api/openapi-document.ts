import type { OperationKind } from '../lib/operation.ts';
import { DESCRIBED_ERRORS } from './described-errors.ts';
import type { ErrorStatus } from './errors.ts';
import { EVENT_STREAM } from './event-streams.ts';
import { EXAMPLE_ID } from './example-ids.ts';
import { pathParameterOf } from './path-parameters.ts';
import { API_PREFIX } from './prefixes.ts';
import { type OperationLink, type Route, returnsResource } from './route.ts';
import { componentOf, errorEnvelope } from './schema.ts';

const EXAMPLE_TAG = '"2jmj7l5rSw0yVb_vlWAYkK_YBwk"';

const HEADERS = {
  'X-Request-Id': {
    description: 'ID of the request, which the log of the server also has',
    schema: { type: 'string', format: 'uuid' },
  },
  'RateLimit-Limit': {
    description: 'Requests allowed in the current window',
    schema: { type: 'integer' },
    example: 3000,
  },
  'RateLimit-Remaining': {
    description: 'Requests left in the current window',
    schema: { type: 'integer' },
    example: 2999,
  },
  'RateLimit-Reset': {
    description: 'Seconds until the window resets',
    schema: { type: 'integer' },
    example: 42,
  },
  ETag: {
    description: 'The version of the resource, for If-Match and If-None-Match',
    schema: { type: 'string' },
    example: EXAMPLE_TAG,
  },
  Location: {
    description: 'The address of what was created',
    schema: { type: 'string', format: 'uri-reference' },
    example: `${API_PREFIX}/sites/${EXAMPLE_ID.site}`,
  },
  'Retry-After': {
    description: 'Seconds to wait before the next attempt',
    schema: { type: 'integer' },
    example: 5,
  },
};

const COMMON_HEADERS = headerReferences([
  'X-Request-Id',
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
]);

const SUCCESS_MEANINGS = { 200: 'OK', 201: 'Created', 202: 'Accepted', 204: 'Done' };

/** Parts of the document that are not about single endpoints. */
export interface DocumentFrame {
  info: { title: string; version: string; description: string };
  /** Base of the paths, without a trailing slash. */
  server: string;
  /** Begins every path. */
  prefix?: string;
  securitySchemes: Record<string, object>;
  tags?: readonly { name: string; description: string }[];
}

/** Generates an OpenAPI 3.1 document from declared routes. Schemas that are components appear once and are referred to by name. */
export function openApiDocument(routes: readonly Route[], frame: DocumentFrame): object {
  const schemas = new ComponentSchemas();
  const paths: Record<string, Record<string, object>> = {};
  for (const route of routes) {
    const path = `${frame.prefix ?? ''}${route.path.replaceAll(/:(\w+)/g, '{$1}')}`;
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route, routes, schemas) };
  }
  const responses = errorResponses(routes, schemas);
  return {
    openapi: '3.1.0',
    info: frame.info,
    servers: [{ url: frame.server }],
    security: Object.keys(frame.securitySchemes).map((name) => ({ [name]: [] })),
    ...(frame.tags === undefined ? {} : { tags: frame.tags }),
    paths,
    components: {
      securitySchemes: frame.securitySchemes,
      headers: HEADERS,
      responses,
      schemas: schemas.sorted(),
    },
  };
}

function operationOf(route: Route, routes: readonly Route[], schemas: ComponentSchemas): object {
  const parameters = [
    ...idsOf(route).map((name) => pathParameterOf(name, route.plainIds)),
    ...route.query.map(queryParameterOf),
    ...headerParametersOf(route),
  ];
  const body = route.body?.schema ?? route.unreadBody;
  return {
    operationId: route.operationId,
    summary: route.summary,
    ...descriptionOf(route),
    tags: [route.tag],
    ...(route.public || route.stages === 'anybody' ? { security: [] } : {}),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(body
      ? {
          requestBody: {
            ...(route.body ? { required: true } : {}),
            content: contentOf(body, schemas),
          },
        }
      : {}),
    responses: {
      [route.success]: {
        description: SUCCESS_MEANINGS[route.success],
        headers: {
          ...COMMON_HEADERS,
          ...(route.starts === undefined ? {} : { Location: locationOf(route.starts) }),
          ...(route.location ? headerReferences(['Location']) : {}),
          ...(route.entityTag || returnsResource(route) ? headerReferences(['ETag']) : {}),
        },
        ...(route.response ? { content: answerContent(route.response, route, schemas) } : {}),
        ...(route.link ? { links: linkOf(route, route.link, routes) } : {}),
      },
      ...(route.entityTag
        ? {
            304: {
              description: 'The resource has not changed',
              headers: { ...COMMON_HEADERS, ...headerReferences(['ETag']) },
            },
          }
        : {}),
      ...Object.fromEntries(
        route.errors.map((status) => [
          status,
          { $ref: `#/components/responses/${DESCRIBED_ERRORS[status].name}` },
        ]),
      ),
    },
  };
}

function descriptionOf({ description, needs }: Route): { description?: string } {
  if (needs === undefined) return description === undefined ? {} : { description };
  const need = `Needs the capability \`${needs}\` of the install: \`GET /installs/{install_id}/capabilities\` says whether its host has it. Without it, the answer has the code \`capability_unavailable\`.`;
  return { description: description === undefined ? need : `${description} ${need}` };
}

/** The header that names the started operation. */
function locationOf(kind: OperationKind | 'any'): object {
  return {
    description: `The operation that does the work${kind === 'any' ? '' : `, of the kind ${kind}`}`,
    schema: { type: 'string', format: 'uri-reference' },
    example: `${API_PREFIX}/operations/${EXAMPLE_ID.operation}`,
  };
}

/** The names of the identifiers in a route's path. */
function idsOf({ path }: Route): string[] {
  return [...path.matchAll(/:(\w+)/g)].map((match) => match[1] ?? '');
}

/** A link to the operation that reads what the route creates. It takes the ids from the answer, and the others from the path. */
function linkOf(route: Route, { operationId, ids }: OperationLink, routes: readonly Route[]): object {
  const target = routes.find((one) => one.operationId === operationId);
  if (target === undefined) throw new Error(`${route.operationId} links to an unknown operation`);
  const known = idsOf(route);
  const parameters = idsOf(target).map((name) => {
    const pointer = ids[name];
    if (pointer !== undefined) return [name, `$response.body#${pointer}`];
    if (known.includes(name)) return [name, `$request.path.${name}`];
    throw new Error(`the link of ${route.operationId} lacks ${name}`);
  });
  return { [operationId]: { operationId, parameters: Object.fromEntries(parameters) } };
}

/** The errors that routes list, each once. */
function errorResponses(routes: readonly Route[], schemas: ComponentSchemas): Record<string, object> {
  const statuses = [...new Set(routes.flatMap((route) => route.errors))].sort();
  const schema = schemas.render(errorEnvelope);
  const responseOf = (status: ErrorStatus): object => ({
    description: DESCRIBED_ERRORS[status].description,
    headers:
      status === 429 || status === 503
        ? { ...COMMON_HEADERS, ...headerReferences(['Retry-After']) }
        : COMMON_HEADERS,
    content: { 'application/json': { schema, example: DESCRIBED_ERRORS[status].example } },
  });
  return Object.fromEntries(statuses.map((status) => [DESCRIBED_ERRORS[status].name, responseOf(status)]));
}

function headerReferences(names: (keyof typeof HEADERS)[]): object {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

function queryParameterOf({ name, schema, example }: Route['query'][number]): object {
  const { description, ...constraints } = { description: undefined, ...schema };
  return {
    name,
    in: 'query',
    required: false,
    ...(description === undefined ? {} : { description }),
    schema: constraints,
    ...(example === undefined ? {} : { example }),
  };
}

/** The request headers of the conventions (docs/api.md, Conditional requests and Idempotent requests). */
function headerParametersOf({ entityTag, resource, idempotencyKey }: Route): object[] {
  const parameters = [];
  if (entityTag) {
    parameters.push(
      headerParameter(
        'If-None-Match',
        'An ETag: 304 if the resource still has it',
        '"2jmj7l5rSw0yVb_vlWAYkK_YBwk"',
      ),
    );
  }
  if (resource) {
    parameters.push(headerParameter('If-Match', 'An ETag: 412 unless the resource still has it'));
  }
  if (idempotencyKey) {
    parameters.push(
      headerParameter(
        'Idempotency-Key',
        'A new unique text, such as a UUID. A repetition of the request with it gets the first answer and changes nothing',
      ),
    );
  }
  return parameters;
}

/** Tools send examples, so a header that only one value or only new values satisfy has none. */
function headerParameter(name: string, description: string, example?: string): object {
  return {
    name,
    in: 'header',
    required: false,
    description,
    schema: { type: 'string' },
    ...(example === undefined ? {} : { example }),
  };
}

function answerContent(response: object, route: Route, schemas: ComponentSchemas): object {
  return {
    ...contentOf(response, schemas, route.contentType),
    ...(route.isFollowed ? { [EVENT_STREAM]: { schema: { type: 'string' } } } : {}),
  };
}

function contentOf(schema: object, schemas: ComponentSchemas, contentType = 'application/json'): object {
  const found = componentOf(schema);
  return {
    [contentType]: {
      schema: schemas.render(schema),
      ...(found === undefined ? {} : { example: found.example }),
    },
  };
}

/** Collects the components that schemas use. */
class ComponentSchemas {
  readonly #rendered = new Map<string, unknown>();

  /** The schema for the document, with references to components in place of their schemas. */
  render(schema: unknown): unknown {
    if (typeof schema !== 'object' || schema === null) return schema;
    if (Array.isArray(schema)) return schema.map((element) => this.render(element));
    const found = componentOf(schema);
    if (found === undefined) return this.#members(schema);
    this.#add(found.name, found.schema, found.example);
    const reference = { $ref: `#/components/schemas/${found.name}` };
    return acceptsNull(schema) && !acceptsNull(found.schema)
      ? { anyOf: [reference, { type: 'null' }] }
      : reference;
  }

  sorted(): Record<string, unknown> {
    return Object.fromEntries([...this.#rendered].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  #add(name: string, schema: object, example: unknown): void {
    const rendered = { ...this.#members(schema), examples: [example] };
    const known = this.#rendered.get(name);
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(rendered)) {
      throw new Error(`two schemas have the component name ${name}`);
    }
    this.#rendered.set(name, rendered);
  }

  #members(schema: object): Record<string, unknown> {
    const members = Object.entries(schema).filter(([name]) => name !== '$id');
    return Object.fromEntries(members.map(([name, value]) => [name, this.render(value)]));
  }
}

function acceptsNull(schema: object): boolean {
  const type: unknown = Reflect.get(schema, 'type');
  return Array.isArray(type) && type.includes('null');
}
