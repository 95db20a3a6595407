import Type, { type Static } from 'typebox';
import { Value } from 'typebox/value';
import { Schema } from '../types-of-description.ts';

const Content = Type.Optional(
  Type.Object({
    'application/json': Type.Optional(
      Type.Object({ schema: Schema, example: Type.Optional(Type.Unknown()) }),
    ),
  }),
);
const Operation = Type.Object({
  operationId: Type.String(),
  summary: Type.String(),
  description: Type.Optional(Type.String()),
  tags: Type.Array(Type.String()),
  parameters: Type.Optional(
    Type.Array(
      Type.Object({
        name: Type.String(),
        in: Type.String(),
        required: Type.Optional(Type.Boolean()),
        description: Type.Optional(Type.String()),
        schema: Schema,
        example: Type.Optional(Type.Unknown()),
      }),
    ),
  ),
  requestBody: Type.Optional(Type.Object({ content: Content })),
  responses: Type.Record(
    Type.String(),
    Type.Object({
      $ref: Type.Optional(Type.String()),
      description: Type.Optional(Type.String()),
      content: Content,
    }),
  ),
});
type Operation = Static<typeof Operation>;

const Description = Type.Object({
  info: Type.Object({ title: Type.String(), version: Type.String(), description: Type.String() }),
  tags: Type.Array(Type.Object({ name: Type.String(), description: Type.String() })),
  paths: Type.Record(Type.String(), Type.Record(Type.String(), Operation)),
  components: Type.Object({
    responses: Type.Record(Type.String(), Type.Object({ description: Type.String() })),
    schemas: Type.Record(Type.String(), Schema),
  }),
});
type Description = Static<typeof Description>;

interface Endpoint {
  method: string;
  path: string;
  operation: Operation;
}

const SCHEMAS = 'reference/objects.md';

/**
 * The pages of the API reference: one for each tag of the description, one for its objects, and an index.
 * @returns Markdown by the path of the page in the site
 */
export function referencePages(document: unknown): Map<string, string> {
  const description = Value.Parse(Description, document);
  const endpoints = Object.entries(description.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(
      ([method, operation]): Endpoint => ({ method: method.toUpperCase(), path, operation }),
    ),
  );
  const tagged = description.tags.map((tag) => ({
    ...tag,
    file: `${tag.name.toLowerCase().replaceAll(' ', '-')}.md`,
    endpoints: endpoints.filter(({ operation }) => operation.tags[0] === tag.name),
  }));
  return new Map([
    ['reference/index.md', indexPage(description, tagged)],
    ...tagged.map((tag): [string, string] => [
      `reference/${tag.file}`,
      `# ${tag.name}\n\n${sentence(tag.description)}\n\n${tag.endpoints.map((one) => endpointText(one, description)).join('\n')}`,
    ]),
    [SCHEMAS, objectsPage(description)],
  ]);
}

function indexPage(
  { info }: Description,
  tagged: readonly { name: string; file: string; endpoints: readonly Endpoint[] }[],
): string {
  const lists = tagged.map(({ name, file, endpoints }) => {
    const rows = endpoints.map(
      ({ method, path, operation }) =>
        `| [${cell(operation.summary)}](./${file}#${operation.operationId.toLowerCase()}) | \`${method} ${path}\` |`,
    );
    return `## ${name}\n\n| | |\n|---|---|\n${rows.join('\n')}\n`;
  });
  return [
    `# API reference\n\n${sentence(info.description)} Version ${info.version}. Paths begin with \`/v1\`.`,
    'The [contract](../api.md) has the rules that hold for all endpoints: credentials, pages, limits, errors and idempotency.\n',
    ...lists,
  ].join('\n');
}

function endpointText({ method, path, operation }: Endpoint, { components }: Description): string {
  const { operationId, summary, description, parameters = [], requestBody, responses } = operation;
  const body = requestBody?.content?.['application/json'];
  const rows = parameters.map(
    ({ name, in: place, required, description: about, schema }) =>
      `| \`${name}\` | ${place} | ${typeText(schema)}${required === true ? ', required' : ''} | ${cell(about ?? schema.description ?? '')} |`,
  );
  const answers = Object.entries(responses).map(([status, answer]) => {
    const content = answer.content?.['application/json'];
    const named = components.responses[lastPart(answer.$ref ?? '')];
    const type = content === undefined ? '' : typeText(content.schema);
    return `| ${status} | ${cell(named?.description ?? answer.description ?? '')} | ${type} |`;
  });
  const example = Object.entries(responses)
    .filter(([status]) => status.startsWith('2'))
    .map(([, answer]) => answer.content?.['application/json']?.example)
    .find((value) => value !== undefined);
  return [
    `## ${summary} {#${operationId.toLowerCase()}}\n`,
    `\`${method} ${path}\`\n`,
    ...(description === undefined ? [] : [`${sentence(description)}\n`]),
    ...(rows.length === 0
      ? []
      : [`| Parameter | In | Type | Meaning |\n|---|---|---|---|\n${rows.join('\n')}\n`]),
    ...(body === undefined ? [] : [`The body is ${typeText(body.schema)}.\n`]),
    curlText(method, path, parameters, body?.example),
    `| Status | Meaning | Body |\n|---|---|---|\n${answers.join('\n')}\n`,
    ...(example === undefined ? [] : [fence('json', JSON.stringify(example, null, 2))]),
  ].join('\n');
}

/** A request with the examples of the description. */
function curlText(
  method: string,
  path: string,
  parameters: NonNullable<Operation['parameters']>,
  body: unknown,
): string {
  const filled = path.replace(/\{(\w+)\}/g, (whole, name: string) => {
    const example = parameters.find((one) => one.name === name)?.example;
    return typeof example === 'string' ? example : whole;
  });
  const words = [
    'curl -u "$USERNAME:$PASSWORD"',
    ...(method === 'GET' || (method === 'POST' && body !== undefined) ? [] : [`-X ${method}`]),
    `"$API${filled}"`,
    ...(body === undefined
      ? []
      : [`-H 'Content-Type: application/json'`, `-d '${JSON.stringify(body).replaceAll("'", `'\\''`)}'`]),
  ];
  return fence('sh', words.join(' \\\n  '));
}

function objectsPage({ components }: Description): string {
  const objects = Object.entries(components.schemas).map(([name, schema]) => {
    const required = new Set(schema.required);
    const rows = Object.entries(schema.properties ?? {}).map(
      ([field, member]) =>
        `| \`${field}\` | ${typeText(member)}${required.has(field) ? '' : ', optional'} | ${cell(member.description ?? '')} |`,
    );
    const table =
      rows.length === 0
        ? `${typeText(schema)}\n`
        : `| Field | Type | Meaning |\n|---|---|---|\n${rows.join('\n')}\n`;
    return `## ${name} {#${name.toLowerCase()}}\n\n${schema.description === undefined ? '' : `${sentence(schema.description)}\n\n`}${table}`;
  });
  return `# Objects\n\nThe objects of requests and answers, by name.\n\n${objects.join('\n')}`;
}

/** The type of a value in Markdown, with links to named objects. Fits into a cell of a table. */
function typeText(schema: Schema): string {
  if (schema.$ref !== undefined) {
    const name = lastPart(schema.$ref);
    return `[${name}](./objects.md#${name.toLowerCase()})`;
  }
  if (schema.const !== undefined) return `\`${schema.const}\``;
  if (schema.enum !== undefined) return schema.enum.map((value) => `\`${value}\``).join(', ');
  if (schema.anyOf !== undefined) return schema.anyOf.map(typeText).join(' or ');
  const types = [schema.type ?? []].flat().map((type) => {
    if (type === 'array') return schema.items === undefined ? 'list' : `list of ${typeText(schema.items)}`;
    if (type === 'object' && schema.properties !== undefined) {
      return `object (${Object.keys(schema.properties)
        .map((name) => `\`${name}\``)
        .join(', ')})`;
    }
    return type;
  });
  return types.length === 0 ? 'any value' : types.join(' or ');
}

const lastPart = (ref: string): string => ref.split('/').at(-1) ?? '';
const fence = (language: string, text: string): string => `\`\`\`${language}\n${text}\n\`\`\`\n`;
const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');
const sentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`);
