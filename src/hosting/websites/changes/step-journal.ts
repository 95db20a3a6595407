import { readFile } from 'node:fs/promises';
import type { Static, TSchema } from 'typebox';
import { Value } from 'typebox/value';
import { removeDurably, writeDurably } from '../../../lib/durable-file.ts';
import { ifThere } from '../../../lib/if-there.ts';
import { PermanentHostError } from '../../contract/errors.ts';

/** How far the work on each website is, so that a killed host can continue or undo it. One file for each install. */
export interface StepJournal<Entry> {
  /** The record of the work with this id; null if it has none yet. Rejects if the record cannot be read. */
  read(installId: string, id: string): Promise<Entry | null>;
  write(installId: string, entry: Entry): Promise<void>;
  remove(installId: string): Promise<void>;
}

export interface StepJournalOptions<Entry> {
  fileOf(installId: string): string;
  idOf(entry: Entry): string;
  /** Name of the work, for people. */
  work: string;
}

export function createStepJournal<Schema extends TSchema>(
  schema: Schema,
  { fileOf, idOf, work }: StepJournalOptions<Static<Schema>>,
): StepJournal<Static<Schema>> {
  return {
    async read(installId, id) {
      const text = await ifThere(readFile(fileOf(installId), 'utf8'));
      // A record of other work is one that was given up. It may be of another version of this program.
      if (text === null || !text.includes(JSON.stringify(id))) return null;
      const value = parsed(text);
      if (Value.Check(schema, value)) return idOf(value) === id ? value : null;
      throw new PermanentHostError(`The host can no longer read how far the ${work} was`);
    },
    write: (installId, entry) => writeDurably(fileOf(installId), JSON.stringify(entry)),
    remove: (installId) => removeDurably(fileOf(installId)),
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
