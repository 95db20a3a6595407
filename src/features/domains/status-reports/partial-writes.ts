/** Keeps the latest state of something that changes often: at most one write in `everyMs`, one at a time. */
export interface PartialWrites<State> {
  /** To be written soon, unless a newer state takes its place before. */
  offer(state: State): void;
  /** Drops what waits and resolves when no write is under way; nothing is written after that. */
  end(): Promise<void>;
}

/** `write` deals with its own failures. */
export function createPartialWrites<State>(
  write: (state: State) => Promise<void>,
  everyMs: number,
): PartialWrites<State> {
  let waiting: { state: State } | null = null;
  let timer: NodeJS.Timeout | null = null;
  let writing: Promise<void> | null = null;
  let ended = false;

  function begin(): void {
    timer = null;
    if (ended || waiting === null) return;
    const { state } = waiting;
    waiting = null;
    timer = setTimeout(next, everyMs);
    writing = write(state).finally(() => {
      writing = null;
      if (timer === null) begin();
    });
  }

  function next(): void {
    timer = null;
    if (writing === null) begin();
  }

  return {
    offer(state) {
      if (ended) return;
      waiting = { state };
      if (timer === null && writing === null) begin();
    },
    async end() {
      ended = true;
      waiting = null;
      if (timer !== null) clearTimeout(timer);
      timer = null;
      await writing;
    },
  };
}
