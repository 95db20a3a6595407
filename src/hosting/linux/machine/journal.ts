import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import Type from 'typebox';
import { Compile } from 'typebox/compile';
import { removeDurably, writeDurably } from '../../../lib/durable-file.ts';

const entrySchema = Compile(Type.Object({ id: Type.String(), name: Type.String(), database: Type.String() }));

/** The parts of a website that undoing an interrupted provisioning needs. */
export interface JournalEntry {
  /** UUID, lower case. */
  id: string;
  name: string;
  database: string;
}

/** Websites being provisioned. An entry found at the host's start was interrupted, and is undone. */
export interface Journal {
  begin(entry: JournalEntry): Promise<void>;
  end(installId: string): Promise<void>;
  unfinished(): Promise<JournalEntry[]>;
}

/** A journal with one file per entry in `folder`; `fileOf` gives its path. */
export function createJournal(folder: string, fileOf: (installId: string) => string): Journal {
  return {
    begin: ({ id, name, database }) => writeDurably(fileOf(id), JSON.stringify({ id, name, database })),
    end: (installId) => removeDurably(fileOf(installId)),
    async unfinished() {
      const entries: JournalEntry[] = [];
      for (const name of (await readdir(folder)).filter((file) => /^[0-9a-f-]{36}\.json$/.test(file))) {
        const value: unknown = JSON.parse(await readFile(join(folder, name), 'utf8'));
        if (!entrySchema.Check(value)) throw new Error(`${join(folder, name)} is not a journal entry`);
        entries.push(value);
      }
      return entries;
    },
  };
}
