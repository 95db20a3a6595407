import { INVALID_PARAMETERS } from '../lib/failures.ts';
import type { OperationKind } from '../lib/operation.ts';
import type { ErrorStatus } from './errors.ts';
import { EXAMPLE_ID } from './example-ids.ts';
import { pathParameterOf } from './path-parameters.ts';
import { API_PREFIX } from './prefixes.ts';
import type { Route } from './route.ts';
import { componentOf, errorEnvelope } from './schema.ts';

const STATUS_MEANINGS: Record<ErrorStatus, string> = {
  400: INVALID_PARAMETERS,
  401: 'Invalid or missing credentials',
  403: 'Insufficient permissions',
  404: 'Resource not found',
  409: 'The state of the resource does not allow the change',
  412: 'The resource has changed',
  422: 'The request cannot be carried out',
  429: 'Rate limit exceeded',
  500: 'Internal server error',
  502: 'A service that Homeport depends on failed',
  503: 'Service temporarily unavailable',
};

const SUCCESS_MEANINGS = { 200: 'OK', 201: 'Created', 202: 'Accepted', 204: 'Done' };

/** Parts of the document that are not about single endpoints. */
export interface DocumentFrame {
  info: { title: string; version: string; description: string };
  /** Base of the paths, without a trailing slash. */
  server: string;
  /** Begins every path. */
  prefix?: string;
  securitySchemes: Record<string, object>;
}

/** Generates an OpenAPI 3.1 document from declared routes. Schemas that are components appear once and are referred to by name. */
export function openApiDocument(routes: readonly Route[], frame: DocumentFrame): object {
  const schemas = new ComponentSchemas();
  const paths: Record<string, Record<string, object>> = {};
  for (const route of routes) {
    const path = `${frame.prefix ?? ''}${route.path.replaceAll(/:(\w+)/g, '{$1}')}`;
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route, schemas) };
  }
  return {
    openapi: '3.1.0',
    info: frame.info,
    servers: [{ url: frame.server }],
    security: Object.keys(frame.securitySchemes).map((name) => ({ [name]: [] })),
    paths,
    components: { securitySchemes: frame.securitySchemes, schemas: schemas.sorted() },
  };
}

function operationOf(route: Route, schemas: ComponentSchemas): object {
  const ids = [...route.path.matchAll(/:(\w+)/g)].map((match) => match[1] ?? '');
  const parameters = [
    ...ids.map((name) => pathParameterOf(name, route.plainIds)),
    ...route.query.map(queryParameterOf),
  ];
  return {
    operationId: route.operationId,
    summary: route.summary,
    ...(route.description === undefined ? {} : { description: route.description }),
    tags: [route.tag],
    ...(route.public || route.stages === 'anybody' ? { security: [] } : {}),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(route.body
      ? { requestBody: { required: true, content: contentOf(route.body.schema, schemas) } }
      : {}),
    responses: responsesOf(route, schemas),
  };
}

function responsesOf(route: Route, schemas: ComponentSchemas): Record<number, object> {
  const responses: Record<number, object> = {
    [route.success]: {
      description: SUCCESS_MEANINGS[route.success],
      ...(route.starts === undefined ? {} : { headers: locationOf(route.starts) }),
      ...(route.response ? { content: contentOf(route.response, schemas, route.contentType) } : {}),
    },
  };
  for (const status of route.errors) {
    responses[status] = {
      description: STATUS_MEANINGS[status],
      content: { 'application/json': { schema: schemas.render(errorEnvelope) } },
    };
  }
  return responses;
}

/** The header that names the started operation. */
function locationOf(kind: OperationKind): object {
  return {
    Location: {
      description: `The operation that does the work, of the kind ${kind}`,
      schema: { type: 'string', format: 'uri-reference' },
      example: `${API_PREFIX}/operations/${EXAMPLE_ID.operation}`,
    },
  };
}

function queryParameterOf({ name, schema }: Route['query'][number]): object {
  const { description, ...constraints } = { description: undefined, ...schema };
  return {
    name,
    in: 'query',
    required: false,
    ...(description === undefined ? {} : { description }),
    schema: constraints,
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
