/** Aborted when `signal` is, and at the latest after so many milliseconds. */
export function withTimeLimit(signal: AbortSignal, limitMs: number): AbortSignal {
  return AbortSignal.any([signal, AbortSignal.timeout(limitMs)]);
}
