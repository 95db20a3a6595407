import Type, { type Static } from 'typebox';
import { createStepJournal, type StepJournal } from './step-journal.ts';

const entrySchema = Type.Object({
  changeId: Type.String(),
  /**
   * `changing`: the website may be half changed. `checking`: the change was made. `restoring`: the checkpoint replaces the website
   * because of `reason`. `ended`: the outcome is final.
   */
  stage: Type.Union([
    Type.Literal('changing'),
    Type.Literal('checking'),
    Type.Literal('restoring'),
    Type.Literal('ended'),
  ]),
  /** How the website should look after the change: see `recordedObservation`; null before. It need not be readable once the change has ended. */
  expected: Type.Unknown(),
  changed: Type.Union([
    Type.Object({
      id: Type.String(),
      name: Type.String(),
      version: Type.Union([Type.String(), Type.Null()]),
      warning: Type.Optional(Type.String()),
    }),
    Type.Null(),
  ]),
  reason: Type.Union([Type.String(), Type.Null()]),
  /** Whether the user may keep the change in spite of `reason`. */
  mayKeep: Type.Optional(Type.Boolean()),
});

/** How far a change of a plugin or theme is. */
export type ChangeEntry = Static<typeof entrySchema>;

/** How far the change of each website is, so that a killed host can continue or undo it. */
export const createChangeJournal = (fileOf: (installId: string) => string): StepJournal<ChangeEntry> =>
  createStepJournal(entrySchema, { fileOf, idOf: ({ changeId }) => changeId, work: 'change' });
