/**
 * One step of a {@link Saga}. Both sides are idempotent: `act` reaches the wanted state from any state, and `undo` removes
 * whatever exists, even if `act` was interrupted or never began. `Remains` is the part of the subject that `undo` needs.
 */
export interface Step<Subject extends Remains, Remains = Subject> {
  name: string;
  act(subject: Subject, signal?: AbortSignal): Promise<void>;
  undo(remains: Remains): Promise<void>;
}

/** Steps that are independent of each other and run concurrently. */
export type Stage<Subject extends Remains, Remains = Subject> = readonly Step<Subject, Remains>[];

export interface Saga<Subject extends Remains, Remains = Subject> {
  /** Runs the stages in order. If one fails, undoes all stages and then rejects with that failure. */
  run(subject: Subject, signal?: AbortSignal): Promise<void>;
  /** Undoes the stages in reverse order. Continues after a failure, and rejects with the first one. */
  undo(remains: Remains): Promise<void>;
}

/**
 * A sequence of stages that is completed or undone, never left half done. The caller covers a killed process: it stores the
 * subject before `run`, and calls `undo` for stored subjects at its next start. `reached` is called after each step, so that
 * tests can interrupt there.
 */
export function createSaga<Subject extends Remains, Remains = Subject>(
  stages: readonly Stage<Subject, Remains>[],
  { onUndoFailure, reached = () => {} }: SagaObserver<Subject, Remains>,
): Saga<Subject, Remains> {
  async function undo(remains: Remains): Promise<void> {
    const failures: unknown[] = [];
    for (const stage of stages.toReversed()) {
      for (const step of stage.toReversed()) {
        await step.undo(remains).catch((error: unknown) => {
          failures.push(error);
          onUndoFailure(error, step.name, remains);
        });
      }
    }
    if (failures.length > 0) throw failures[0];
  }

  async function act(stage: Stage<Subject, Remains>, subject: Subject, signal?: AbortSignal): Promise<void> {
    const steps = stage.map(async (step) => {
      await step.act(subject, signal);
      reached(step.name, subject);
    });
    // Wait for all steps: undoing must not begin while one of them is still running.
    const results = await Promise.allSettled(steps);
    const failed = results.find((result) => result.status === 'rejected');
    if (failed) throw failed.reason;
  }

  return {
    undo,
    async run(subject, signal) {
      try {
        for (const stage of stages) {
          signal?.throwIfAborted();
          await act(stage, subject, signal);
        }
      } catch (error) {
        // `onUndoFailure` reports these failures; the caller needs the original error.
        await undo(subject).catch(() => {});
        throw error;
      }
    },
  };
}

export interface SagaObserver<Subject extends Remains, Remains = Subject> {
  onUndoFailure(error: unknown, step: string, remains: Remains): void;
  reached?: ((step: string, subject: Subject) => void) | undefined;
}
