import { IsObject, IsSchema, type TSchema } from 'typebox';

/**
 * The value with its lists cut one element beyond what their schema allows: enough to tell that a list is too long, and what
 * is wrong with its first elements, at a cost that does not grow with what was sent. Members that
 * the schema does not know are left out.
 */
export function cutLists(schema: TSchema, value: unknown): unknown {
  const items = itemsOf(schema);
  if (items && Array.isArray(value)) {
    const most: unknown = Reflect.get(schema, 'maxItems');
    const elements: unknown[] = typeof most === 'number' ? value.slice(0, most + 1) : value;
    return elements.map((element) => cutLists(items, element));
  }
  if (IsObject(schema) && isRecord(value)) {
    const cut = Object.entries(schema.properties)
      .filter(([name]) => Object.hasOwn(value, name))
      .map(([name, member]) => [name, cutLists(member, value[name])]);
    return Object.fromEntries(cut);
  }
  return value;
}

/** What the elements of a list must be; undefined where a schema is of no list. A list that may be null is one, too. */
export function itemsOf(schema: TSchema): TSchema | undefined {
  const items: unknown = Reflect.get(schema, 'items');
  return IsSchema(items) ? items : undefined;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
