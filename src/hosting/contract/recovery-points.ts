import Type, { type Static } from 'typebox';
import type { Immutable } from './immutable.ts';
import type { InstallRef } from './install-ref.ts';
import { orNull, snapshot, uuid } from './message-values.ts';
import type { ReportProgress } from './progress.ts';

/** A note by which a host tells whether a website changed since a time. Only the host that made it reads it. */
const mark = Type.String({ minLength: 1, maxLength: 1_000 });

/** The most websites in one question. */
export const MARKED_PAGE = 100;

export const pointOrder = {
  pointId: uuid,
  /** The recovery point with all files that this one may be based on; null: it has all files itself. */
  baseId: orNull(uuid),
  /** Recovery points to keep, `baseId` among them. The host deletes all others of the install, and no backup. */
  keep: Type.Array(uuid, { maxItems: 1_000 }),
};
export type PointOrder = Immutable<Static<Type.TObject<typeof pointOrder>>>;

export const recordedPoint = Type.Object({
  snapshot,
  mark,
  /** The recovery point that has the files which this one leaves out; null: it leaves out none. */
  baseId: orNull(uuid),
});
export type RecordedPoint = Static<typeof recordedPoint>;

const markedWebsite = Type.Object({ installId: uuid, mark });
export type MarkedWebsite = Static<typeof markedWebsite>;
export const markedWebsites = Type.Array(markedWebsite, { maxItems: MARKED_PAGE });
export const unchangedIds = Type.Array(uuid, { maxItems: MARKED_PAGE });

/**
 * Makes recovery points: snapshots of websites between their backups. They are in the same repository and no backups: only `restore` knows them, with
 * the base of a point.
 */
export interface RecoveryPointMaker {
  /**
   * Makes a consistent snapshot of the website under `pointId`, and returns the website's mark from before it. It has the whole database, and those files
   * that changed since `baseId`, or all files if this host no longer knows what that had. What it stores is not read back.
   */
  recordPoint(
    install: InstallRef,
    order: PointOrder,
    signal?: AbortSignal,
    report?: ReportProgress,
  ): Promise<RecordedPoint>;
  /**
   * Returns the ids of those websites that are as they were when their mark was made. A website that it is unsure about counts as changed. At most
   * {@link MARKED_PAGE} at once.
   */
  unchangedWebsites(marked: readonly MarkedWebsite[]): Promise<string[]>;
}
