/**
 * One step towards a whole. Both of its sides are idempotent: `act` brings to the state whatever was there before,
 * and `undo` takes away whatever of it there is, though `act` was never begun or was broken off. `Remains` is what has to be
 * known for that, which is less than what has to be known to make it.
 */
export interface Step<Subject extends Remains, Remains = Subject> {
  name: string;
  act(subject: Subject, signal?: AbortSignal): Promise<void>;
  undo(remains: Remains): Promise<void>;
}

/** Steps that do not build on each other, and are done side by side. */
export type Stage<Subject extends Remains, Remains = Subject> = readonly Step<Subject, Remains>[];

export interface Saga<Subject extends Remains, Remains = Subject> {
  /** Does every stage, one after the other. After a failure, all is undone before it rejects with that failure. */
  run(subject: Subject, signal?: AbortSignal): Promise<void>;
  /** Undoes every stage, the last first. Goes on after a failure, and rejects with the first one. */
  undo(remains: Remains): Promise<void>;
}

/**
 * A whole that is done or undone, never left between. That a killed process's half is undone as well is the caller's:
 * it writes down the subject before `run` and calls `undo` for what it finds written down later.
 * `reached` is called after each step: where a test breaks off.
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

export interface SagaObserver<Subject extends Remains, Remains = Subject> {
  onUndoFailure(error: unknown, step: string, remains: Remains): void;
  reached?: ((step: string, subject: Subject) => void) | undefined;
}
