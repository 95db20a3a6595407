import { IsObject, IsSchema, type TSchema } from 'typebox';

/**
 * The value with what is longer than its schema allows cut to just more than that: enough to tell that a list or a text is too long,
 * and what is wrong with its beginning, at a cost that does not grow with what was sent. Members that the schema does not know are
 * left out.
 */
export function cutToBounds(schema: TSchema, value: unknown): unknown {
  const items = itemsOf(schema);
  if (items && Array.isArray(value)) {
    const most = boundOf(schema, 'maxItems');
    const elements: unknown[] = most === undefined ? value : value.slice(0, most + 1);
    return elements.map((element) => cutToBounds(items, element));
  }
  if (IsObject(schema) && isRecord(value)) {
    const cut = Object.entries(schema.properties)
      .filter(([name]) => Object.hasOwn(value, name))
      .map(([name, member]) => [name, cutToBounds(member, value[name])]);
    return Object.fromEntries(cut);
  }
  if (typeof value === 'string') {
    const most = boundOf(schema, 'maxLength');
    return most === undefined ? value : cutText(value, most + 1);
  }
  return value;
}

/** At least so many characters of a text. One has two code units at most, and none is cut in half, which would be another fault. */
function cutText(text: string, characters: number): string {
  const units = 2 * characters;
  return text.length <= units ? text : text.slice(0, units).replace(/[\ud800-\udbff]$/, '');
}

function boundOf(schema: TSchema, name: 'maxItems' | 'maxLength'): number | undefined {
  const bound: unknown = Reflect.get(schema, name);
  return typeof bound === 'number' ? bound : undefined;
}

/** What the elements of a list must be; undefined where a schema is of no list. A list that may be null is one, too. */
export function itemsOf(schema: TSchema): TSchema | undefined {
  const items: unknown = Reflect.get(schema, 'items');
  return IsSchema(items) ? items : undefined;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
