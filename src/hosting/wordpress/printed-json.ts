import type { Static, TSchema } from 'typebox';
import { Value } from 'typebox/value';

/** Reads the last line of a script's output, because the website's own code may print others. Null if it does not fit the schema. */
export function parsePrinted<Schema extends TSchema>(schema: Schema, output: string): Static<Schema> | null {
  try {
    const value: unknown = JSON.parse(output.trimEnd().split('\n').at(-1) ?? '');
    return Value.Check(schema, value) ? value : null;
  } catch {
    return null;
  }
}
