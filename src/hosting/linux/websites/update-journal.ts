import { readFile } from 'node:fs/promises';
import Type, { type Static } from 'typebox';
import { Value } from 'typebox/value';
import { removeDurably, writeDurably } from '../../../lib/durable-file.ts';
import { ifThere } from '../../../lib/if-there.ts';
import { observationSchema } from './website-check.ts';

const orNull = <Schema extends Type.TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);

const updateSchema = Type.Object({
  kind: Type.Union([Type.Literal('core'), Type.Literal('plugin'), Type.Literal('theme')]),
  id: Type.String(),
  name: Type.String(),
  from: Type.String(),
  to: Type.String(),
});

const entrySchema = Type.Object({
  updateId: Type.String(),
  /**
   * `ready`: nothing was changed yet. `updating`: the website may be half updated. `checking`: the update before `index` was made. `restoring`: the checkpoint replaces
   * the website because of `rolledBack`. `ended`: the outcome is final.
   */
  stage: Type.Union([
    Type.Literal('ready'),
    Type.Literal('updating'),
    Type.Literal('checking'),
    Type.Literal('restoring'),
    Type.Literal('ended'),
  ]),
  /** The number of updates that were made. */
  index: Type.Integer({ minimum: 0 }),
  /** WordPress version before the first update. */
  wordpressVersion: Type.String(),
  /** How the website looked before the first update. */
  before: observationSchema,
  /** How often the host was killed in the middle of an update. */
  interruptions: Type.Integer({ minimum: 0 }),
  made: Type.Array(updateSchema),
  rolledBack: orNull(Type.Object({ update: orNull(updateSchema), reason: Type.String() })),
});

/** How far an update of a website is. */
export type UpdateEntry = Static<typeof entrySchema>;

/** How far the update of each website is, so that a killed host can continue or undo it. One file for each install. */
export interface UpdateJournal {
  read(installId: string): Promise<UpdateEntry | null>;
  write(installId: string, entry: UpdateEntry): Promise<void>;
  remove(installId: string): Promise<void>;
}

export function createUpdateJournal(fileOf: (installId: string) => string): UpdateJournal {
  return {
    async read(installId) {
      const text = await ifThere(readFile(fileOf(installId), 'utf8'));
      if (text === null) return null;
      const value: unknown = JSON.parse(text);
      if (!Value.Check(entrySchema, value)) {
        throw new Error(`${fileOf(installId)} is not the record of an update`);
      }
      return value;
    },
    write: (installId, entry) => writeDurably(fileOf(installId), JSON.stringify(entry)),
    remove: (installId) => removeDurably(fileOf(installId)),
  };
}
