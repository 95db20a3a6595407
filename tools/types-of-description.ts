import Type, { type Static } from 'typebox';
import { Value } from 'typebox/value';

/** The keywords of JSON Schema that our descriptions use. */
export const Schema = Type.Cyclic(
  {
    Schema: Type.Object({
      $ref: Type.Optional(Type.String()),
      type: Type.Optional(Type.Union([Type.String(), Type.Array(Type.String())])),
      description: Type.Optional(Type.String()),
      enum: Type.Optional(Type.Array(Type.Union([Type.String(), Type.Number(), Type.Null()]))),
      const: Type.Optional(Type.Union([Type.String(), Type.Number()])),
      properties: Type.Optional(Type.Record(Type.String(), Type.Ref('Schema'))),
      required: Type.Optional(Type.Array(Type.String())),
      additionalProperties: Type.Optional(Type.Union([Type.Boolean(), Type.Ref('Schema')])),
      items: Type.Optional(Type.Ref('Schema')),
      anyOf: Type.Optional(Type.Array(Type.Ref('Schema'))),
    }),
  },
  'Schema',
);
export type Schema = Static<typeof Schema>;

const Content = Type.Optional(
  Type.Object({ 'application/json': Type.Optional(Type.Object({ schema: Schema })) }),
);
const Operation = Type.Object({
  operationId: Type.String(),
  summary: Type.String(),
  description: Type.Optional(Type.String()),
  parameters: Type.Optional(
    Type.Array(
      Type.Object({
        name: Type.String(),
        in: Type.String(),
        required: Type.Optional(Type.Boolean()),
        description: Type.Optional(Type.String()),
        schema: Schema,
      }),
    ),
  ),
  requestBody: Type.Optional(Type.Object({ content: Content })),
  responses: Type.Record(
    Type.String(),
    Type.Object({ $ref: Type.Optional(Type.String()), content: Content }),
  ),
});
const Description = Type.Object({
  info: Type.Object({ title: Type.String() }),
  paths: Type.Record(Type.String(), Type.Record(Type.String(), Operation)),
  components: Type.Object({
    responses: Type.Record(Type.String(), Type.Object({ content: Content })),
    schemas: Type.Record(Type.String(), Schema),
  }),
});
type Responses = Static<typeof Description>['components']['responses'];

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'];

/** TypeScript for an OpenAPI 3.1 description: its operations, its paths for openapi-fetch, and the named schemas. */
export function typesOf(description: unknown): string {
  const { info, paths, components } = Value.Parse(Description, description);
  const operations = Object.values(paths)
    .flatMap((methods) => Object.values(methods))
    .map((operation) => operationType(operation, components.responses));
  const byPath = Object.entries(paths).map(([path, methods]) => {
    const members = METHODS.map((method) => {
      const operation = methods[method];
      return operation === undefined
        ? `${method}?: never;`
        : `${method}: operations['${operation.operationId}'];`;
    });
    return `  '${path}': { ${members.join(' ')} };\n`;
  });
  const schemas = Object.entries(components.schemas).map(
    ([name, schema]) => `${comment(schema.description)}    ${name}: ${typeOf(schema)};\n`,
  );
  return [
    `${HEAD} Types of the ${info.title}.\n\n`,
    `export interface operations {\n${operations.join('')}}\n\n`,
    `export interface paths {\n${byPath.join('')}}\n\n`,
    `export interface components {\n  schemas: {\n${schemas.join('')}  };\n}\n`,
  ].join('');
}

const HEAD = '// Written by `npm run generate` from the declarations of the routes.';

/** The source of a table of method and path by operation id. */
export function endpointsOf(description: unknown): string {
  const { paths } = Value.Parse(Description, description);
  const rows = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(
      ([method, { operationId }]) =>
        `  ${operationId}: { method: '${method.toUpperCase()}', path: '${path}' },\n`,
    ),
  );
  return [
    `${HEAD}\n`,
    "import type { EndpointId } from './types.ts';\n\n",
    '/** Method and path of every endpoint, by operation id. */\n',
    'export const ENDPOINTS: Record<EndpointId, { method: string; path: string }> = {\n',
    ...rows.sort(),
    '};\n',
  ].join('');
}

function operationType(operation: Static<typeof Operation>, named: Responses): string {
  const { operationId, summary, description, parameters = [], requestBody, responses } = operation;
  const at = (place: string) => {
    const found = parameters.filter((parameter) => parameter.in === place);
    if (found.length === 0) return `${place}?: never`;
    const optional = found.every(({ required }) => required !== true);
    const members = found.map(
      ({ name, required, schema, description: about }) =>
        `${comment(about ?? schema.description)}${memberName(name)}${required ? '' : '?'}: ${typeOf(schema)}`,
    );
    return `${place}${optional ? '?' : ''}: { ${members.join('; ')} }`;
  };
  const body = requestBody?.content?.['application/json'];
  const answers = Object.entries(responses).map(([status, { $ref, content }]) => {
    const shared = named[$ref?.split('/').at(-1) ?? ''];
    const json = (shared?.content ?? content)?.['application/json'];
    const type = json ? `{ 'application/json': ${typeOf(json.schema)} }` : 'never';
    return `      ${status}: { headers: Record<string, unknown>; content${json ? '' : '?'}: ${type} };\n`;
  });
  return [
    `  ${comment([summary, description].filter(Boolean).join('. '))}${operationId}: {\n`,
    `    parameters: { ${['query', 'path', 'header', 'cookie'].map(at).join('; ')} };\n`,
    `    requestBody${body ? '' : '?'}: ${body ? `{ content: { 'application/json': ${typeOf(body.schema)} } }` : 'never'};\n`,
    `    responses: {\n${answers.join('')}    };\n`,
    `  };\n`,
  ].join('');
}

/** A documentation comment, which editors show. */
function comment(text: string | undefined): string {
  return text ? `/** ${text.replaceAll('*/', '* /')} */\n` : '';
}

function typeOf(schema: Schema): string {
  if (schema.$ref !== undefined) return `components['schemas']['${schema.$ref.split('/').at(-1)}']`;
  if (schema.enum) return schema.enum.map(literal).join(' | ');
  if (schema.const !== undefined) return literal(schema.const);
  if (schema.anyOf) return schema.anyOf.map(typeOf).join(' | ');
  const types = [schema.type ?? []].flat();
  if (types.length === 0) return unknownType(schema);
  return types.map((type) => named(type, schema)).join(' | ');
}

/**
 * Returns `unknown` for a schema with only a description and examples. Throws for any other, so that no keyword is ignored
 * silently.
 */
function unknownType(schema: Schema): string {
  const keywords = Object.keys(schema).filter((keyword) => !['description', 'examples'].includes(keyword));
  if (keywords.length > 0) throw new Error(`unsupported schema keywords: ${keywords.join(', ')}`);
  return 'unknown';
}

const literal = (value: string | number | null) => JSON.stringify(value);

const memberName = (name: string) => (/^[a-z_]\w*$/i.test(name) ? name : literal(name));

function named(type: string, schema: Schema): string {
  switch (type) {
    case 'integer':
      return 'number';
    case 'array':
      return `Array<${schema.items ? typeOf(schema.items) : 'unknown'}>`;
    case 'object':
      return objectType(schema);
    default:
      return type;
  }
}

function objectType({ properties, required = [], additionalProperties }: Schema): string {
  if (!properties) {
    return typeof additionalProperties === 'object'
      ? `Record<string, ${typeOf(additionalProperties)}>`
      : 'Record<string, unknown>';
  }
  const members = Object.entries(properties).map(
    ([name, schema]) =>
      `${comment(schema.description)}${memberName(name)}${required.includes(name) ? '' : '?'}: ${typeOf(schema)}`,
  );
  return `{ ${members.join('; ')} }`;
}
