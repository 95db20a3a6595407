import { IsArray, IsObject, type TSchema } from 'typebox';

/**
 * The value with its lists cut one element beyond what their schema allows: enough to tell that a list is too long, and what
 * is wrong with its first elements, at a cost that does not grow with what was sent. Members that
 * the schema does not know are left out.
 */
export function cutLists(schema: TSchema, value: unknown): unknown {
  if (IsArray(schema) && Array.isArray(value)) {
    const most: unknown = Reflect.get(schema, 'maxItems');
    const elements: unknown[] = typeof most === 'number' ? value.slice(0, most + 1) : value;
    return elements.map((element) => cutLists(schema.items, element));
  }
  if (IsObject(schema) && isRecord(value)) {
    const cut = Object.entries(schema.properties)
      .filter(([name]) => Object.hasOwn(value, name))
      .map(([name, member]) => [name, cutLists(member, value[name])]);
    return Object.fromEntries(cut);
  }
  return value;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
