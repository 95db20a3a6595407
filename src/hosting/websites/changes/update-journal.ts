import Type, { type Static } from 'typebox';
import { createStepJournal, type StepJournal } from './step-journal.ts';

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
  /** How the website looked before the first update: see `recordedObservation`. It need not be readable once the update has ended. */
  before: Type.Unknown(),
  /** How often the host was killed in the middle of an update. */
  interruptions: Type.Integer({ minimum: 0 }),
  made: Type.Array(updateSchema),
  skipped: Type.Array(Type.Object({ update: updateSchema, reason: Type.String() })),
  /** Whether the checkpoint was restored because of an interruption. */
  restored: Type.Boolean(),
  rolledBack: orNull(
    Type.Object({
      update: orNull(updateSchema),
      reason: Type.String(),
      mayKeep: Type.Optional(Type.Boolean()),
    }),
  ),
  /** How a page looks different that is kept all the same. */
  warning: Type.Optional(Type.String()),
});

/** How far an update of a website is. */
export type UpdateEntry = Static<typeof entrySchema>;

/** How far the update of each website is, so that a killed host can continue or undo it. */
export const createUpdateJournal = (fileOf: (installId: string) => string): StepJournal<UpdateEntry> =>
  createStepJournal(entrySchema, { fileOf, idOf: ({ updateId }) => updateId, work: 'update' });
