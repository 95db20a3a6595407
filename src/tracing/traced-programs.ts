import { programs, type WatchedProgram } from '../lib/run-command.ts';

/** Ends the span of a program. `error`: why it failed. */
type EndProgram = (error: unknown) => void;

/** Calls `begin` for each program that this process runs, and what that returns at its end. Returns what stops that. */
export function watchPrograms(begin: (program: string) => EndProgram | undefined): () => void {
  const ends = new WeakMap<WatchedProgram, EndProgram>();
  const subscriber = {
    start(watched: WatchedProgram) {
      const end = begin(watched.program);
      if (end !== undefined) ends.set(watched, end);
    },
    end() {},
    asyncStart() {},
    asyncEnd(watched: WatchedProgram) {
      ends.get(watched)?.(watched.error);
    },
    error() {},
  };
  programs.subscribe(subscriber);
  return () => void programs.unsubscribe(subscriber);
}
