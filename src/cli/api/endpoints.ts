import Type, { type Static } from 'typebox';
import { Value } from 'typebox/value';
import { describedApi } from '../../app/description.ts';

/** A value that a call takes: an identifier of the path, a query parameter, or a member of the body. */
export interface Field {
  name: string;
  description: string;
  required: boolean;
  type: 'text' | 'number' | 'boolean' | 'texts' | 'json';
  /** The values that it may have; empty if any. */
  values: string[];
}

/** An endpoint as a command. */
export interface Endpoint {
  id: string;
  method: string;
  /** Below the address of the API, with the identifiers in braces. */
  path: string;
  summary: string;
  description: string;
  /** Its group. */
  tag: string;
  ids: Field[];
  query: Field[];
  body: Field[];
  /** The member of the body that holds all others; null if they are its own. */
  wrapper: string | null;
  /** JSON Schema of the body without references; null if the endpoint takes none. */
  bodySchema: object | null;
  /** Answers with a page of items. */
  isPaged: boolean;
  /** Names an operation that does the work. */
  startsWork: boolean;
}

const Schema = Type.Object({
  $ref: Type.Optional(Type.String()),
  type: Type.Optional(Type.Union([Type.String(), Type.Array(Type.String())])),
  description: Type.Optional(Type.String()),
  enum: Type.Optional(Type.Array(Type.Unknown())),
  items: Type.Optional(Type.Unknown()),
  anyOf: Type.Optional(Type.Array(Type.Unknown())),
  required: Type.Optional(Type.Array(Type.String())),
  properties: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
});
type Schema = Static<typeof Schema>;

const Content = Type.Object({
  'application/json': Type.Optional(Type.Object({ schema: Type.Optional(Schema) })),
});

const Operation = Type.Object({
  operationId: Type.String(),
  summary: Type.String(),
  description: Type.Optional(Type.String()),
  tags: Type.Array(Type.String()),
  parameters: Type.Optional(
    Type.Array(
      Type.Object({
        name: Type.Optional(Type.String()),
        in: Type.Optional(Type.String()),
        required: Type.Optional(Type.Boolean()),
        description: Type.Optional(Type.String()),
        schema: Type.Optional(Schema),
      }),
    ),
  ),
  requestBody: Type.Optional(Type.Object({ content: Content })),
  responses: Type.Record(
    Type.String(),
    Type.Object({
      headers: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
      content: Type.Optional(Content),
    }),
  ),
});

const Description = Type.Object({
  paths: Type.Record(Type.String(), Type.Record(Type.String(), Operation)),
  components: Type.Object({ schemas: Type.Record(Type.String(), Schema) }),
});
type Description = Static<typeof Description>;

let known: readonly Endpoint[] | undefined;

/** Every endpoint of the API. */
export function readEndpoints(): readonly Endpoint[] {
  known ??= endpointsOf(Value.Parse(Description, describedApi()));
  return known;
}

/** The endpoint with this operation id. Throws for an unknown id. */
export function findEndpoint(id: string): Endpoint {
  const found = readEndpoints().find((endpoint) => endpoint.id === id);
  if (found === undefined) throw new TypeError(`there is no endpoint ${id}`);
  return found;
}

function endpointsOf(description: Description): Endpoint[] {
  return Object.entries(description.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) =>
      endpointOf({ method: method.toUpperCase(), path }, operation, description),
    ),
  );
}

/** Names that are written as one word, although they have capital letters inside. */
const BRANDS = /WordPress/g;
/** The start of a word: a capital letter after a small one or a digit, or the last of several before a small one. */
const WORD_STARTS = /(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/;

/** The words of an operation's id, in lower case: `importThirdPartySSLCertificate` is `import third party ssl certificate`. */
export function wordsOf(id: string): string[] {
  const plain = id.replaceAll(BRANDS, (brand) => `${brand.slice(0, 1)}${brand.slice(1).toLowerCase()}`);
  return plain.split(WORD_STARTS).map((word) => word.toLowerCase());
}

function endpointOf(
  place: Pick<Endpoint, 'method' | 'path'>,
  operation: Static<typeof Operation>,
  description: Description,
): Endpoint {
  const parameters = (where: string) =>
    (operation.parameters ?? [])
      .filter((parameter) => parameter.in === where)
      .map(({ name = '', required = false, description: text, schema = {} }) =>
        fieldOf(
          name,
          required,
          { ...schema, ...(text === undefined ? {} : { description: text }) },
          description,
        ),
      );
  const success = operation.responses['200'] ?? operation.responses['201'] ?? operation.responses['202'];
  const answer = resolved(success?.content?.['application/json']?.schema ?? {}, description);
  const body = resolved(operation.requestBody?.content['application/json']?.schema ?? {}, description);
  const { wrapper, fields } = bodyFields(body, description);
  return {
    id: operation.operationId,
    ...place,
    summary: operation.summary,
    description: operation.description ?? operation.summary,
    tag: operation.tags[0] ?? 'Other',
    ids: parameters('path'),
    query: parameters('query'),
    body: fields,
    wrapper,
    bodySchema: operation.requestBody === undefined ? null : withoutReferences(body, description),
    isPaged: answer.properties?.results !== undefined && answer.properties.next !== undefined,
    startsWork: /operation/i.test(JSON.stringify(success?.headers?.Location ?? '')),
  };
}

/** The members of a body. If its only member is an object, the members of that one. */
function bodyFields(body: Schema, description: Description): { wrapper: string | null; fields: Field[] } {
  const members = Object.entries(body.properties ?? {});
  const [only] = members;
  if (members.length === 1 && only !== undefined) {
    const inner = resolved(Value.Parse(Schema, only[1]), description);
    if (inner.properties !== undefined)
      return { wrapper: only[0], fields: bodyFields(inner, description).fields };
  }
  const required = new Set(body.required);
  return {
    wrapper: null,
    fields: members.map(([name, schema]) =>
      fieldOf(name, required.has(name), Value.Parse(Schema, schema), description),
    ),
  };
}

function fieldOf(name: string, required: boolean, schema: Schema, description: Description): Field {
  const shape = resolved(schema, description);
  const types = [shape.type ?? []].flat().filter((type) => type !== 'null');
  const values = (shape.enum ?? []).filter((value) => typeof value === 'string');
  return {
    name,
    required,
    description: schema.description ?? shape.description ?? name.replaceAll('_', ' '),
    type: typeOf(types, shape, description),
    values,
  };
}

function typeOf(types: string[], shape: Schema, description: Description): Field['type'] {
  const [type] = types;
  if (types.length !== 1) return 'json';
  if (type === 'string') return 'text';
  if (type === 'integer' || type === 'number') return 'number';
  if (type === 'boolean') return 'boolean';
  if (type !== 'array') return 'json';
  const items = resolved(Value.Check(Schema, shape.items) ? shape.items : {}, description);
  return items.type === 'string' ? 'texts' : 'json';
}

/** The schema that a reference names, also if null is allowed beside it. */
function resolved(schema: Schema, description: Description): Schema {
  const reference = schema.$ref ?? referenceIn(schema.anyOf ?? []);
  if (reference === undefined) return schema;
  return resolved(
    description.components.schemas[reference.replace('#/components/schemas/', '')] ?? {},
    description,
  );
}

/** A schema with the schemas that it refers to in their places. */
function withoutReferences(schema: unknown, description: Description): object {
  const replaced: unknown = JSON.parse(JSON.stringify(schema), (_name, value: unknown) => {
    if (typeof value !== 'object' || value === null || !('$ref' in value)) return value;
    return withoutReferences(resolved({ $ref: String(value.$ref) }, description), description);
  });
  return Object(replaced);
}

function referenceIn(schemas: unknown[]): string | undefined {
  return schemas.map((schema) => (Value.Check(Schema, schema) ? schema.$ref : undefined)).find(Boolean);
}
