import Type, { type Static, type TObject, type TSchema } from 'typebox';

/**
 * Building blocks of the resources' schemas. Nullable and enumerated strings have the form that Fastify's serialiser
 * handles fastest.
 */
export const uuid = (description?: string) =>
  Type.String({ format: 'uuid', ...(description === undefined ? {} : { description }) });

export const timestamp = (description = 'ISO 8601, UTC') => Type.String({ format: 'date-time', description });

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

/** The paginated envelope (specification, Limits). */
export const page = <Item extends TSchema>(item: Item) =>
  Type.Object({
    previous: nullableString('URL of the previous page; null on the first'),
    next: nullableString('URL of the next page; null on the last'),
    count: Type.Integer({ description: 'items on all pages that the caller may see' }),
    results: Type.Array(item),
  });

export const errorEnvelope = Type.Object(
  {
    message: Type.String(),
    errors: Type.Optional(
      Type.Array(
        Type.Object({
          resource: Type.String(),
          field: Type.String(),
          type: Type.String(),
          code: Type.String(),
          message: Type.String(),
        }),
      ),
    ),
  },
  { $id: 'Error', description: 'An error. `errors` lists every fault of the body, one item each.' },
);

export type { Static, TObject, TSchema };
export { Type };
