import { readFile } from 'node:fs/promises';
import Type from 'typebox';
import { Value } from 'typebox/value';
import { writeDurably } from '../../../lib/durable-file.ts';
import type { Randomness } from '../../../lib/ids.ts';
import { ifThere } from '../../../lib/if-there.ts';

const identitySchema = Type.Object({ id: Type.String() });

/**
 * The id of this host, created at its first start and kept in `file`. `given`: the id that a control plane on another machine
 * chose for it. Throws if the folder belongs to another id.
 */
export async function hostId(
  file: string,
  { given, random }: { given: string | null; random: Randomness },
): Promise<string> {
  const present = await ifThere(readFile(file, 'utf8'));
  if (present === null) {
    const id = given ?? random.uuid();
    await writeDurably(file, JSON.stringify({ id }));
    return id;
  }
  const { id } = Value.Parse(identitySchema, JSON.parse(present));
  if (given !== null && given !== id) {
    throw new Error(`${file} belongs to host ${id}, but the identity given is that of host ${given}`);
  }
  return id;
}
