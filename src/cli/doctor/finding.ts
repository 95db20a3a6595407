import { messageOf } from '../../lib/error-message.ts';

/** What one check of `homeport doctor` found. */
export interface Finding {
  /** What was looked at, in a word or two. */
  check: string;
  /** A warning works now and may not tomorrow; a problem does not work. */
  state: 'ok' | 'warning' | 'problem';
  /** One sentence. */
  message: string;
  /** What mends it; null where nothing needs to be mended. */
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

/** An error in a line, for a person. */
export function reasonOf(error: unknown): string {
  // A refused connection to several addresses says nothing itself.
  if (error instanceof AggregateError && error.message === '') return reasonOf(error.errors[0]);
  const text = messageOf(error);
  const [line = ''] = text.split('\n', 1);
  return line.replace(/\/\/[^/\s@]+@/g, '//***@').replace(/\.$/, '');
}
