import { readFile } from 'node:fs/promises';
import Type from 'typebox';
import { Value } from 'typebox/value';
import { writeDurably } from '../../../lib/durable-file.ts';
import type { Randomness } from '../../../lib/ids.ts';
import { ifThere } from '../../../lib/if-there.ts';

const identitySchema = Type.Object({ id: Type.String() });

/**
 * The id of this host, made when it first starts and kept in `file`. `given`: the one that a control plane on another machine
 * has chosen for it. Throws if the folder was made for another one.
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
    throw new Error(
      `${file} says that this folder belongs to the host ${id}, and the identity given is that of ${given}`,
    );
  }
  return id;
}
