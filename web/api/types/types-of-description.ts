import Type, { type Static } from 'typebox';
import { Value } from 'typebox/value';

/** The keywords of JSON Schema that our descriptions use. */
const Schema = Type.Cyclic(
  {
    Schema: Type.Object({
      $ref: Type.Optional(Type.String()),
      type: Type.Optional(Type.Union([Type.String(), Type.Array(Type.String())])),
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
type Schema = Static<typeof Schema>;

const Content = Type.Optional(
  Type.Object({ 'application/json': Type.Optional(Type.Object({ schema: Schema })) }),
);
const Operation = Type.Object({
  parameters: Type.Optional(
    Type.Array(
      Type.Object({
        name: Type.String(),
        in: Type.String(),
        required: Type.Optional(Type.Boolean()),
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

/** Returns TypeScript for an OpenAPI 3.1 description: `paths` for openapi-fetch, and the named schemas. */
export function typesOf(description: unknown): string {
  const { info, paths, components } = Value.Parse(Description, description);
  const operations = Object.entries(paths).map(
    ([path, methods]) =>
      `  '${path}': {\n${METHODS.map((method) => operationOf(method, methods[method], components.responses)).join('')}  };\n`,
  );
  const schemas = Object.entries(components.schemas).map(
    ([name, schema]) => `    ${name}: ${typeOf(schema)};\n`,
  );
  return [
    `/** ${info.title}: written by \`npm run web:types\` from the server's own description. */\n\n`,
    `export interface paths {\n${operations.join('')}}\n\n`,
    `export interface components {\n  schemas: {\n${schemas.join('')}  };\n}\n`,
  ].join('');
}

function operationOf(
  method: string,
  operation: Static<typeof Operation> | undefined,
  named: Responses,
): string {
  if (!operation) return `    ${method}?: never;\n`;
  const { parameters = [], requestBody, responses } = operation;
  const at = (place: string) => {
    const found = parameters.filter((parameter) => parameter.in === place);
    if (found.length === 0) return `${place}?: never`;
    const optional = found.every(({ required }) => required !== true);
    const members = found.map(
      ({ name, required, schema }) => `${memberName(name)}${required ? '' : '?'}: ${typeOf(schema)}`,
    );
    return `${place}${optional ? '?' : ''}: { ${members.join('; ')} }`;
  };
  const body = requestBody?.content?.['application/json'];
  const answers = Object.entries(responses).map(([status, { $ref, content }]) => {
    const shared = named[$ref?.split('/').at(-1) ?? ''];
    const json = (shared?.content ?? content)?.['application/json'];
    const type = json ? `{ 'application/json': ${typeOf(json.schema)} }` : 'never';
    return `        ${status}: { headers: Record<string, unknown>; content${json ? '' : '?'}: ${type} };\n`;
  });
  return [
    `    ${method}: {\n`,
    `      parameters: { ${['query', 'path', 'header', 'cookie'].map(at).join('; ')} };\n`,
    `      requestBody${body ? '' : '?'}: ${body ? `{ content: { 'application/json': ${typeOf(body.schema)} } }` : 'never'};\n`,
    `      responses: {\n${answers.join('')}      };\n`,
    `    };\n`,
  ].join('');
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
    ([name, schema]) => `${memberName(name)}${required.includes(name) ? '' : '?'}: ${typeOf(schema)}`,
  );
  return `{ ${members.join('; ')} }`;
}
