import { IsObject, IsSchema, type TSchema } from 'typebox';

/**
 * Cuts lists and texts that are longer than their schema allows to just above the limit. Validation still finds them too long and
 * checks their beginning, but its cost no longer grows with the request. Drops members that the schema does not know.
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

/** At least `characters` characters of a text. Never cuts a surrogate pair in half: that would be another fault. */
function cutText(text: string, characters: number): string {
  const units = 2 * characters;
  return text.length <= units ? text : text.slice(0, units).replace(/[\ud800-\udbff]$/, '');
}

function boundOf(schema: TSchema, name: 'maxItems' | 'maxLength'): number | undefined {
  const bound: unknown = Reflect.get(schema, name);
  return typeof bound === 'number' ? bound : undefined;
}

/** The schema of a list's elements, nullable lists included; undefined for other schemas. */
export function itemsOf(schema: TSchema): TSchema | undefined {
  const items: unknown = Reflect.get(schema, 'items');
  return IsSchema(items) ? items : undefined;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
