/** Values travel as bytes of v8.serialize, so that both sides measure them before they read them. */
export type ToChild =
  | { id: number; module: string; name: string; input: Uint8Array }
  /** Aborts the signal of a task. */
  | { abort: number };

export type FromChild =
  /** The child reads messages from now on. */
  | { ready: true }
  | { id: number; output: Uint8Array }
  /** The task threw. */
  | { id: number; error: Uint8Array };
