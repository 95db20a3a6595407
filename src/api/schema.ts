import Type, { type Static, type TObject, type TSchema } from 'typebox';
import type { Fault } from '../lib/failures.ts';

/**
 * Building blocks of the resources' schemas. Nullable and enumerated strings have the form that Fastify's serialiser
 * handles fastest.
 */
export const uuid = (description?: string) =>
  Type.String({ format: 'uuid', ...(description === undefined ? {} : { description }) });

export const timestamp = (description = 'ISO 8601, UTC') => Type.String({ format: 'date-time', description });

export const nullableTimestamp = (description?: string) =>
  Type.Unsafe<string | null>({
    type: ['string', 'null'],
    format: 'date-time',
    ...(description === undefined ? {} : { description }),
  });

/**
 * An e-mail address (RFC 5321) at a host name. A quoted local part is refused: it may contain line breaks, and a mailbox with
 * many spellings would have separate limits for each.
 */
export const emailAddress = (description?: string) =>
  Type.String({
    format: 'email',
    // Longest local part: 64 characters (RFC 5321, section 4.5.3.1.1).
    pattern: '^[^"\\[\\]@]{1,64}@[^"\\[\\]@]+$',
    maxLength: 254,
    ...(description === undefined ? {} : { description }),
  });

export const nullableString = (description?: string) =>
  Type.Unsafe<string | null>({
    type: ['string', 'null'],
    ...(description === undefined ? {} : { description }),
  });

export const stringEnum = <const Value extends string>(values: readonly Value[], description?: string) =>
  Type.Unsafe<Value>({
    type: 'string',
    enum: [...values],
    ...(description === undefined ? {} : { description }),
  });

export const nullableEnum = <const Value extends string>(values: readonly Value[], description?: string) =>
  Type.Unsafe<Value | null>({
    type: ['string', 'null'],
    enum: [...values, null],
    ...(description === undefined ? {} : { description }),
  });

export const nullableArrayOfStrings = (description?: string) =>
  Type.Unsafe<string[] | null>({
    type: ['array', 'null'],
    items: { type: 'string' },
    ...(description === undefined ? {} : { description }),
  });

const COMPONENT = Symbol('component of the description');

/** A schema that the description refers to by name. */
export interface Component {
  name: string;
  /** Fits the schema. */
  example: unknown;
  /** The schema of the component; differs from the marked schema if that one also accepts null. */
  schema: TSchema;
}

/**
 * Makes a schema a named component of the description. Every use, also within other schemas, becomes a reference. The
 * serialiser and the validator see the schema itself, so a reference costs them nothing.
 */
export function component<Schema extends TSchema>(
  name: string,
  schema: Schema,
  example: NoInfer<Static<Schema>>,
): Schema {
  return mark(schema, { name, example, schema });
}

/** The component that a schema is, or that it is apart from also accepting null. */
export function componentOf(schema: object): Component | undefined {
  const found: unknown = Reflect.get(schema, COMPONENT);
  return isComponent(found) ? found : undefined;
}

/** A component or null; in the description `anyOf` a reference and null. */
export function nullable<Schema extends TSchema>(schema: Schema) {
  const found = componentOf(schema);
  const type: unknown = Reflect.get(schema, 'type');
  if (found === undefined || typeof type !== 'string') throw new Error('only a component can be nullable');
  const values: unknown = Reflect.get(schema, 'enum');
  const both = Type.Unsafe<Static<Schema> | null>({
    ...schema,
    type: [type, 'null'],
    ...(Array.isArray(values) ? { enum: [...values, null] } : {}),
  });
  return mark(both, found);
}

function mark<Schema extends TSchema>(schema: Schema, found: Component): Schema {
  // Not enumerable: only the description reads it. TypeBox copies it into optional properties.
  return Object.defineProperty(schema, COMPONENT, { value: found });
}

function isComponent(found: unknown): found is Component {
  return typeof found === 'object' && found !== null && 'schema' in found;
}

/** The paginated envelope (specification, Limits). The page of a component `Install` is the component `InstallPage`. */
export function page<Item extends TSchema>(item: Item) {
  const found = componentOf(item);
  const schema = Type.Object({
    previous: nullableString('URL of the previous page; null on the first'),
    next: nullableString('URL of the next page; null on the last'),
    count: Type.Integer({ description: 'items on all pages that the caller may see' }),
    results: Type.Array(item),
  });
  if (found === undefined) return schema;
  const example = { previous: null, next: null, count: 1, results: [found.example] };
  return mark(schema, { name: `${found.name}Page`, example, schema });
}

export const faultExample: Fault = {
  resource: 'Installation',
  field: 'name',
  type: 'missing_field',
  code: 'required',
  message: 'Installation name cannot be empty',
};

const faultSchema = component(
  'Fault',
  Type.Object(
    {
      resource: Type.String(),
      field: Type.String(),
      type: Type.String(),
      code: Type.String(),
      message: Type.String(),
    },
    { description: 'One fault of a request' },
  ),
  faultExample,
);

export const errorEnvelope = component(
  'Error',
  Type.Object(
    { message: Type.String(), errors: Type.Optional(Type.Array(faultSchema)) },
    { $id: 'Error', description: 'An error. `errors` lists every fault of the body, one item each.' },
  ),
  { message: 'Resource not found' },
);

export type { Static, TObject, TSchema };
export { Type };
