import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import Type from 'typebox';
import { Value } from 'typebox/value';
import { inlinedResponses } from './inlined-responses.ts';

const ResponseShape = Type.Object({
  content: Type.Optional(Type.Record(Type.String(), Type.Object({ schema: Type.Unknown() }))),
});
const Description = Type.Object({
  openapi: Type.String(),
  info: Type.Object({ version: Type.String() }),
  paths: Type.Record(
    Type.String(),
    Type.Record(Type.String(), Type.Object({ responses: Type.Record(Type.String(), ResponseShape) })),
  ),
  components: Type.Object({ schemas: Type.Record(Type.String(), Type.Unknown()) }),
});

/** Throws unless status and body of a response match the description. */
export type Conformance = (method: string, path: string, status: number, body: string) => void;

/**
 * Compiles a server's OpenAPI description into a check of its responses. `prefix`: prepended to the described paths.
 */
export function conformanceTo(served: unknown, prefix = '/v1'): Conformance {
  const description = Value.Parse(Description, inlinedResponses(served));
  // Another test validates the schemas. Doing it here took a quarter of a server's start.
  // Each check runs a few times. Compiling them took more than twice as long with shorter code and with copies of what they refer to.
  const sooner = { code: { optimize: false }, inlineRefs: false };
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateSchema: false, ...sooner });
  addFormats.default(ajv);
  ajv.addSchema({ $id: 'description', components: description.components });
  const compiled = new Map<string, ValidateFunction>();
  const templates = Object.keys(description.paths)
    .map((template) => ({
      template,
      pattern: new RegExp(`^${prefix}${template.replace(/\{[^}]+\}/g, '[^/]+')}/?$`),
      variables: template.split('{').length,
    }))
    // `domains/bulk` before `domains/{domain_id}`
    .sort((a, b) => a.variables - b.variables);

  return (method, asked, status, body) => {
    const path = asked.replace(/\/{2,}/g, '/');
    const place = `${method} ${path} → ${status}`;
    const operation = templates
      .filter(({ pattern }) => pattern.test(path))
      .map(({ template }) => ({
        template,
        responses: description.paths[template]?.[method.toLowerCase()]?.responses,
      }))
      .find(({ responses }) => responses !== undefined);
    if (!operation?.responses) {
      if (status !== 404 && status !== 429) throw new Error(`${place}: not in the description`);
      return;
    }
    const response = operation.responses[String(status)];
    if (!response) throw new Error(`${place}: a status that the description does not list: ${body}`);
    const schema = response.content?.['application/json']?.schema;
    if (schema === undefined) {
      if (body !== '') throw new Error(`${place}: should have no body, has ${body}`);
      return;
    }
    const key = `${method} ${operation.template} ${status}`;
    let validate = compiled.get(key);
    if (!validate) {
      validate = ajv.compile(withAbsoluteReferences(schema));
      compiled.set(key, validate);
    }
    const value: unknown = JSON.parse(body);
    if (!validate(value)) throw new Error(`${place}: ${ajv.errorsText(validate.errors)}: ${body}`);
  };
}

function withAbsoluteReferences(schema: unknown): object {
  const text = JSON.stringify(schema).replaceAll('"#/components/', '"description#/components/');
  const parsed: unknown = JSON.parse(text);
  return typeof parsed === 'object' && parsed !== null ? parsed : {};
}
