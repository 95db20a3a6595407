import type { Writable } from 'node:stream';
import { hasCode } from '../../lib/error-code.ts';
import { OperatorError } from '../../lib/operator-error.ts';
import { reportFailure } from './report-failure.ts';

/**
 * Keeps a command going if its output cannot be written; without a listener Node ends the process, in the middle of the work. A reader
 * that left early, as in `homeport user list | head`, is no failure. Any other error makes the command exit with 1.
 */
export function surviveLostOutput(stdout: Writable, stderr: Writable): void {
  stdout.on('error', (error) => {
    if (hasCode(error, 'EPIPE')) return;
    reportFailure(new OperatorError(`cannot write the output: ${error.message}`, { cause: error }));
  });
  stderr.on('error', (error) => {
    if (!hasCode(error, 'EPIPE')) process.exitCode = 1;
  });
}
