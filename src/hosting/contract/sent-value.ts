import Type, { type TSchema } from 'typebox';
import { Value } from 'typebox/value';

/**
 * Option of a member of an object that hosts of earlier versions do not know. A message leaves the member out while it has this value,
 * so that they accept the message.
 */
export const newer = (leftOutFor: unknown) => ({ leftOutFor });

/** Option of a member of an object: a message has this value if the caller left the member out. */
export const absentAs = (absent: unknown) => ({ absent });

/** Option of texts with a maximum length and of numbers with a maximum: a message has larger ones cut. */
export const cut = { isCut: true };

/** The value in a message: the members that the schema lists, with its options {@link newer}, {@link absentAs} and {@link cut}. */
export function asSent(schema: TSchema, value: unknown): unknown {
  if (Type.IsUnion(schema)) {
    for (const one of schema.anyOf) {
      const sent = asSent(one, value);
      if (Value.Check(one, sent)) return sent;
    }
    return value;
  }
  if (Type.IsArray(schema)) {
    return Array.isArray(value) ? value.map((item) => asSent(schema.items, item)) : value;
  }
  if (Type.IsObject(schema)) return isRecord(value) ? membersOf(schema, value) : value;
  return isCut(schema) ? cutValue(schema, value) : value;
}

function membersOf({ properties }: Type.TObject, value: Record<string, unknown>): object {
  const sent = Object.entries(properties).flatMap(([name, schema]) => {
    const given =
      value[name] ?? ('absent' in schema && value[name] === undefined ? schema.absent : value[name]);
    const member = given === undefined ? undefined : asSent(schema, given);
    const isLeftOut =
      member === undefined || ('leftOutFor' in schema && Value.Equal(member, schema.leftOutFor));
    return isLeftOut ? [] : [[name, member] as const];
  });
  return Object.fromEntries(sent);
}

function cutValue(schema: TSchema, value: unknown): unknown {
  if ('maxLength' in schema && typeof value === 'string') return value.slice(0, Number(schema.maxLength));
  if ('maximum' in schema && typeof value === 'number') return Math.min(value, Number(schema.maximum));
  return value;
}

const isCut = (schema: TSchema): boolean => 'isCut' in schema && schema.isCut === true;

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
