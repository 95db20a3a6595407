import { PermanentFailure, Postponed } from './job.ts';

/** The customer's message if the cause is not meant for them; the log has the number with it. */
export const unexpected = (jobId: string) =>
  `It failed unexpectedly; your provider finds the cause in the log under the number ${jobId}.`;

const LONGEST_LINE = 500;
const DEEPEST_CAUSE = 3;

/** An attempt took longer than its kind allows. */
export class AttemptTimeout extends Error {
  override readonly name = 'AttemptTimeout';
  constructor(timeoutMs: number, options?: ErrorOptions) {
    super(`It took longer than ${timeoutMs / 1_000} seconds.`, options);
  }
}

/** The worker's process ended, or lost its database, before the attempt did. */
export class AttemptInterrupted extends Error {
  override readonly name = 'AttemptInterrupted';
  constructor() {
    super('The process that worked on it ended before the work did.');
  }
}

/** One failure, described for each audience. */
export interface Described {
  /** Retries do not help. */
  permanent: boolean;
  /** For the customer: one line written for users. */
  reason: string;
  /** For the operator (`jobs.error`): class and first line of the error and of its causes, without a stack. */
  line: string;
}

/**
 * Only messages written for users become the reason. The operator's line names the error itself, without credentials in
 * its URLs.
 */
export function describeFailure(error: unknown, jobId: string): Described {
  const permanent = error instanceof PermanentFailure;
  const shown = [PermanentFailure, Postponed, AttemptTimeout, AttemptInterrupted].some(
    (kind) => error instanceof kind,
  );
  return {
    permanent,
    reason: (shown && error instanceof Error && firstLine(error.message)) || unexpected(jobId),
    line: withoutEchoes(causes(error)).join('; caused by ').slice(0, LONGEST_LINE),
  };
}

function causes(error: unknown, depth = 1): string[] {
  if (!(error instanceof Error)) return [firstLine(String(error))];
  // Node leaves the message of a refused connection to several addresses empty and sets the code.
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  const message = firstLine(error.message) || code;
  const own =
    error instanceof PermanentFailure || error instanceof Postponed ? message : `${error.name}: ${message}`;
  return error.cause === undefined || depth === DEEPEST_CAUSE
    ? [own]
    : [own, ...causes(error.cause, depth + 1)];
}

/** A failure that repeats its cause's sentence shows it once. */
function withoutEchoes(lines: string[]): string[] {
  return lines.filter((line, index) => index === 0 || !line.endsWith(`: ${lines[index - 1]}`));
}

function firstLine(text: string): string {
  const line = text.trim().split(/[\r\n]/, 1)[0] ?? '';
  return line
    .replace(/\p{Cc}/gu, ' ')
    .replace(/\/\/[^/\s@]+@/g, '//***@')
    .trim();
}
