import { codeOf } from './error-code.ts';

/** The message of a thrown value. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The message of what caused an error in the end: that of a failed `fetch` is always the same. */
export function rootMessageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.cause !== undefined) return rootMessageOf(error.cause);
  return error.message || (codeOf(error) ?? error.name);
}
