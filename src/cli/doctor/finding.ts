import { messageOf } from '../../lib/error-message.ts';

/** The result of one check of `homeport doctor`. */
export interface Finding {
  /** Subject of the check, in a word or two. */
  check: string;
  /** A problem does not work now. A warning works, but may stop working. */
  state: 'ok' | 'warning' | 'problem';
  /** One sentence. */
  message: string;
  /** The fix; null if nothing needs one. */
  remedy: string | null;
}

export function ok(check: string, message: string): Finding {
  return { check, state: 'ok', message, remedy: null };
}

export function warning(check: string, message: string, remedy: string): Finding {
  return { check, state: 'warning', message, remedy };
}

export function problem(check: string, message: string, remedy: string): Finding {
  return { check, state: 'problem', message, remedy };
}

/** An error as one line for people. */
export function reasonOf(error: unknown): string {
  // A refused connection to several addresses says nothing itself.
  if (error instanceof AggregateError && error.message === '') return reasonOf(error.errors[0]);
  const text = messageOf(error);
  const [line = ''] = text.split('\n', 1);
  return line.replace(/\/\/[^/\s@]+@/g, '//***@').replace(/\.$/, '');
}
