import { IsSchema, type TSchema } from 'typebox';
import { itemsOf } from './schema-bounds.ts';

/**
 * Compares two faults, or whatever else has a field, by where their fields stand in a body (gaps section 2): the fields of an object
 * as its schema has them, the elements of a list by their index, and a list after its elements. What the schema does not know comes
 * last.
 */
export function byField(schema: TSchema) {
  return (one: { field: string }, other: { field: string }): number => {
    const [left, right] = [one.field.split('.'), other.field.split('.')];
    let within: TSchema | undefined = schema;
    for (let depth = 0; ; depth++) {
      const [a, b] = [left[depth], right[depth]];
      if (a === undefined || b === undefined) return right.length - left.length;
      if (a !== b) return position(within, a) - position(within, b);
      within = memberOf(within, a);
    }
  };
}

const isIndex = (name: string) => /^\d+$/.test(name);

function position(schema: TSchema | undefined, name: string): number {
  const at = isIndex(name) ? Number(name) : Object.keys(propertiesOf(schema)).indexOf(name);
  return at === -1 ? Number.MAX_SAFE_INTEGER : at;
}

function memberOf(schema: TSchema | undefined, name: string): TSchema | undefined {
  const member: unknown = isIndex(name) ? schema && itemsOf(schema) : Reflect.get(propertiesOf(schema), name);
  return IsSchema(member) ? member : undefined;
}

/** Of an object that may be null, too. */
function propertiesOf(schema: TSchema | undefined): object {
  const properties: unknown = schema && Reflect.get(schema, 'properties');
  return typeof properties === 'object' && properties !== null ? properties : {};
}
