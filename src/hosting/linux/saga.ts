/**
 * One step towards a whole. Both of its sides are idempotent: `act` brings to the state whatever was there before,
 * and `undo` takes away whatever of it there is, though `act` was never begun or was broken off.
 */
export interface Step<Subject> {
  name: string;
  act(subject: Subject, signal?: AbortSignal): Promise<void>;
  undo(subject: Subject): Promise<void>;
}

/** Steps that do not build on each other, and are done side by side. */
export type Stage<Subject> = readonly Step<Subject>[];

export interface Saga<Subject> {
  /** Does every stage, one after the other. After a failure, all is undone before it rejects with that failure. */
  run(subject: Subject, signal?: AbortSignal): Promise<void>;
  /** Undoes every stage, the last first. Goes on after a failure, and rejects with the first one. */
  undo(subject: Subject): Promise<void>;
}

/**
 * A whole that is done or undone, never left between. That a killed process's half is undone as well is the caller's:
 * it writes down the subject before `run` and calls `undo` for what it finds written down later.
 * `reached` is called after each step: where a test breaks off.
 */
export function createSaga<Subject>(
  stages: readonly Stage<Subject>[],
  { onUndoFailure, reached = () => {} }: SagaObserver<Subject>,
): Saga<Subject> {
  async function undo(subject: Subject): Promise<void> {
    const failures: unknown[] = [];
    for (const stage of stages.toReversed()) {
      for (const step of stage.toReversed()) {
        await step.undo(subject).catch((error: unknown) => {
          failures.push(error);
          onUndoFailure(error, step.name, subject);
        });
      }
    }
    if (failures.length > 0) throw failures[0];
  }

  async function act(stage: Stage<Subject>, subject: Subject, signal?: AbortSignal): Promise<void> {
    const steps = stage.map(async (step) => {
      await step.act(subject, signal);
      reached(step.name, subject);
    });
    // Undoing must not begin while a step of the same stage still makes what is to be undone.
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
        // What could not be undone is told by `onUndoFailure`; what the caller needs is why it began.
        await undo(subject).catch(() => {});
        throw error;
      }
    },
  };
}

export interface SagaObserver<Subject> {
  onUndoFailure(error: unknown, step: string, subject: Subject): void;
  reached?: ((step: string, subject: Subject) => void) | undefined;
}
