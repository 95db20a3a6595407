import { readFile } from 'node:fs/promises';
import Type, { type Static } from 'typebox';
import { Value } from 'typebox/value';
import { removeDurably, writeDurably } from '../../../lib/durable-file.ts';
import { ifThere } from '../../../lib/if-there.ts';
import { PermanentHostError } from '../../contract/host.ts';
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
   * `ready`: the next update has changed nothing yet. `updating`: the website may be half updated. `checking`: the update before `index`
   * was made or skipped. `restoring`: the checkpoint replaces the website because of `rolledBack`. `ended`: the outcome is final.
   */
  stage: Type.Union([
    Type.Literal('ready'),
    Type.Literal('updating'),
    Type.Literal('checking'),
    Type.Literal('restoring'),
    Type.Literal('ended'),
  ]),
  /** When the first attempt began, milliseconds since the epoch. */
  startedAt: Type.Integer({ minimum: 0 }),
  /** When the update at `index` began, likewise; null before. */
  updatingSince: orNull(Type.Integer({ minimum: 0 })),
  /** The number of updates that were made or skipped. */
  index: Type.Integer({ minimum: 0 }),
  /** WordPress version before the first update. */
  wordpressVersion: Type.String(),
  /** How the website looked before the first update. */
  before: observationSchema,
  /** How often the host was killed in the middle of an update. */
  interruptions: Type.Integer({ minimum: 0 }),
  made: Type.Array(updateSchema),
  skipped: Type.Array(Type.Object({ update: updateSchema, reason: Type.String() })),
  /** Whether the checkpoint was restored because of an interruption. */
  restored: Type.Boolean(),
  rolledBack: orNull(Type.Object({ update: orNull(updateSchema), reason: Type.String() })),
});

/** How far an update of a website is. */
export type UpdateEntry = Static<typeof entrySchema>;

/** How far the update of each website is, so that a killed host can continue or undo it. One file for each install. */
export interface UpdateJournal {
  /** The record of this update; null if it has none yet. Rejects if the record cannot be read. */
  read(installId: string, updateId: string): Promise<UpdateEntry | null>;
  write(installId: string, entry: UpdateEntry): Promise<void>;
  remove(installId: string): Promise<void>;
}

export function createUpdateJournal(fileOf: (installId: string) => string): UpdateJournal {
  return {
    async read(installId, updateId) {
      const text = await ifThere(readFile(fileOf(installId), 'utf8'));
      // A record of another update is one that was given up. It may be of another version of this program.
      if (text === null || !text.includes(JSON.stringify(updateId))) return null;
      const value = parsed(text);
      if (Value.Check(entrySchema, value)) return value.updateId === updateId ? value : null;
      throw new PermanentHostError('The host can no longer read how far the update was');
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
