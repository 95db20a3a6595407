import { IsSchema, type TSchema } from 'typebox';
import { itemsOf } from './schema-bounds.ts';

/**
 * Returns a comparison of faults by the order of their fields (docs/api.md, Errors). Fields of an object come in schema order, list
 * elements by index, a list after its elements. Fields unknown to the schema come last.
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

/** Works for nullable objects too. */
function propertiesOf(schema: TSchema | undefined): object {
  const properties: unknown = schema && Reflect.get(schema, 'properties');
  return typeof properties === 'object' && properties !== null ? properties : {};
}
