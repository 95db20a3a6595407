import Type from 'typebox';
import { Value } from 'typebox/value';

const Referring = Type.Object({
  paths: Type.Record(Type.String(), Type.Record(Type.String(), Type.Record(Type.String(), Type.Unknown()))),
  components: Type.Object({ responses: Type.Optional(Type.Record(Type.String(), Type.Unknown())) }),
});

/** An OpenAPI document with each referenced response in its place. Schemas keep their references. */
export function inlinedResponses(document: unknown): unknown {
  const { paths, components } = Value.Parse(Referring, structuredClone(document));
  const named = components.responses ?? {};
  for (const operation of Object.values(paths).flatMap((path) => Object.values(path))) {
    const responses = Value.Parse(Type.Record(Type.String(), Type.Unknown()), operation.responses);
    operation.responses = Object.fromEntries(
      Object.entries(responses).map(([status, response]) => [status, resolved(response, named)]),
    );
  }
  return { ...Object(document), paths };
}

function resolved(response: unknown, named: Record<string, unknown>): unknown {
  const reference = /^#\/components\/responses\/(\w+)$/.exec(String(Reflect.get(Object(response), '$ref')));
  if (!reference) return response;
  const found = named[reference[1] ?? ''];
  if (found === undefined) throw new Error(`the document has no response ${reference[1]}`);
  return found;
}
