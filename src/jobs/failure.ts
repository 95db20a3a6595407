import { FULL_DISK, isFullDisk } from '../lib/full-disk.ts';
import type { OperationErrorCode } from '../lib/operation.ts';
import { PermanentFailure, Postponed } from './job.ts';

/** The customer's message if the cause is not meant for them; the log has the number with it. */
export const unexpected = (jobId: string) =>
  `It failed unexpectedly; your provider finds the cause in the log under the number ${jobId}.`;

const LONGEST_LINE = 500;
const DEEPEST_CAUSE = 3;

/** An attempt took longer than its kind allows. */
export class AttemptTimeout extends Error {
  override readonly name = 'AttemptTimeout';
  readonly code = 'timed_out';
  constructor(timeoutMs: number, options?: ErrorOptions) {
    super(`It took longer than ${timeoutMs / 1_000} seconds.`, options);
  }
}

/** The worker's process ended, or lost its database, before the attempt did. */
export class AttemptInterrupted extends Error {
  override readonly name = 'AttemptInterrupted';
  readonly code = 'interrupted';
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
  code: OperationErrorCode;
  /** For the operator (`jobs.error`): class and first line of the error and of its causes, without a stack. */
  line: string;
}

/**
 * Only messages written for users become the reason. The operator's line names the error itself, without credentials in
 * its URLs.
 */
export function describeFailure(error: unknown, jobId: string): Described {
  const line = withoutEchoes(causes(error)).join('; caused by ').slice(0, LONGEST_LINE);
  const shown = isShown(error) ? firstLine(error.message) : '';
  if (isShown(error) && shown !== '') {
    return { permanent: error instanceof PermanentFailure, reason: shown, code: error.code, line };
  }
  // Attempts within minutes would fill it again.
  if (isFullDisk(error)) return { permanent: true, reason: FULL_DISK, code: 'disk_full', line };
  return {
    permanent: error instanceof PermanentFailure,
    reason: unexpected(jobId),
    code: 'unexpected',
    line,
  };
}

/** Whether the message is written for users. */
function isShown(error: unknown): error is Error & { code: OperationErrorCode } {
  return [PermanentFailure, Postponed, AttemptTimeout, AttemptInterrupted].some(
    (kind) => error instanceof kind,
  );
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
