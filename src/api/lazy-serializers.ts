import {
  type SerializerCompiler,
  type SerializerFactory,
  SerializerSelector,
} from '@fastify/fast-json-stringify-compiler';

/**
 * Compiles the serialiser of an answer when it is first sent. Compiling those of all endpoints takes a third of the start, and most
 * processes send few of them. Answers that refer to the same schema, such as errors, share a serialiser.
 */
export function lazySerializers(): SerializerFactory {
  const compilerOf = SerializerSelector();
  return (schemas, options) => lazy(compilerOf(schemas, options));
}

function lazy(compile: SerializerCompiler): SerializerCompiler {
  const shared = new Map<string, ReturnType<SerializerCompiler>>();
  return (route) => {
    const reference = referenceOf(route.schema);
    const known = reference === undefined ? undefined : shared.get(reference);
    if (known !== undefined) return known;
    let compiled: ReturnType<SerializerCompiler> | undefined;
    const serialize = (answer: unknown) => {
      compiled ??= compile(route);
      return compiled(answer);
    };
    if (reference !== undefined) shared.set(reference, serialize);
    return serialize;
  };
}

function referenceOf(schema: unknown): string | undefined {
  if (typeof schema !== 'object' || schema === null) return undefined;
  const reference: unknown = Reflect.get(schema, '$ref');
  return typeof reference === 'string' ? reference : undefined;
}
