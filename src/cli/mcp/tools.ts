import { type Endpoint, type Field, wordsOf } from '../api/endpoints.ts';

/** The rights of an assistant. `write` adds changes that can be undone, `destructive` those that cannot. */
export const SCOPES = ['read', 'write', 'destructive'] as const;
export type Scope = (typeof SCOPES)[number];

/** An endpoint as a tool of an assistant. */
export interface Tool {
  name: string;
  endpoint: Endpoint;
  scope: Scope;
  description: string;
  inputSchema: { type: 'object'; properties: Record<string, object>; required: string[] };
}

/** Never tools: the description is of no use here, and passwords, keys and secrets that are shown once must not reach an assistant. */
const WITHHELD = new Set([
  'swagger',
  'createCredential',
  'createLoginLink',
  'createDatabaseLink',
  'createWebhook',
  'updateWebhook',
  'importThirdPartySSLCertificate',
]);

/** Changes that overwrite or move what a user has, besides every DELETE. */
const OVERWRITES = /restore|copy|transfer/i;

/** The tools of the endpoints that need only these scopes. */
export function toolsOf(endpoints: readonly Endpoint[], scopes: ReadonlySet<Scope>): Tool[] {
  return endpoints
    .filter(({ id }) => !WITHHELD.has(id))
    .map(toolOf)
    .filter(({ scope }) => scopes.has(scope));
}

function toolOf(endpoint: Endpoint): Tool {
  const scope = scopeOf(endpoint);
  const fields = [...endpoint.ids, ...endpoint.query];
  const properties: Record<string, object> = Object.fromEntries(
    fields.map((field) => [field.name, schemaOf(field)]),
  );
  const required = endpoint.ids.map(({ name }) => name);
  if (endpoint.bodySchema !== null) {
    properties.body = endpoint.bodySchema;
    required.push('body');
  }
  if (scope === 'destructive') {
    properties.confirmation = {
      type: 'string',
      description: 'the confirmation that the first call returns, after the user has agreed',
    };
  }
  return {
    name: wordsOf(endpoint.id).join('_'),
    endpoint,
    scope,
    description: endpoint.description,
    inputSchema: { type: 'object', properties, required },
  };
}

function scopeOf({ id, method }: Endpoint): Scope {
  if (method === 'GET') return 'read';
  return method === 'DELETE' || OVERWRITES.test(id) ? 'destructive' : 'write';
}

const TYPES: Record<Field['type'], object> = {
  text: { type: 'string' },
  number: { type: 'number' },
  boolean: { type: 'boolean' },
  texts: { type: 'array', items: { type: 'string' } },
  json: {},
};

function schemaOf({ type, description, values }: Field): object {
  return {
    ...TYPES[type],
    ...(description === '' ? {} : { description }),
    ...(values.length === 0 ? {} : { enum: values }),
  };
}
