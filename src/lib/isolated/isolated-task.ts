/**
 * A function that runs in a child process, because it reads untrusted bytes with native code, which can crash. Its input and output are values
 * that `structuredClone` copies. It has no effect that must not happen twice, because it runs again if its process died.
 */
export type TaskFunction<Input, Output> = (input: Input, signal: AbortSignal) => Output | Promise<Output>;

/** Where the child process finds a {@link TaskFunction}. */
export interface IsolatedTask<Input, Output> {
  /** URL of its module. */
  readonly module: string;
  /** The name under which the module exports it. */
  readonly name: string;
  /** Carries the types; has no value. */
  readonly types?: TaskFunction<Input, Output>;
}

/**
 * Names a function to run in a child process, without loading its module here:
 * `isolatedTask<typeof import('./read.ts').readFile>(new URL('./read.ts', import.meta.url), 'readFile')`.
 */
export function isolatedTask<Task extends (input: never, signal: AbortSignal) => unknown>(
  module: URL,
  name: string,
): IsolatedTask<Parameters<Task>[0], Awaited<ReturnType<Task>>> {
  return { module: module.href, name };
}

/** Why a task gave no answer. `crash`: its process ended. `start`: no process started, or the platform stops. */
export type TaskLoss = 'crash' | 'memory' | 'time' | 'too_large' | 'start';

/** A task gave no answer, because its process died of it or it exceeded a limit. It says nothing about the platform itself, unless for `start`. */
export class IsolatedTaskLost extends Error {
  override name = 'IsolatedTaskLost';
  readonly reason: TaskLoss;

  constructor(reason: TaskLoss, message: string) {
    super(message);
    this.reason = reason;
  }
}
