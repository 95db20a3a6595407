import { OperatorError } from '../../lib/operator-error.ts';
import { withOwnCommand } from '../../lib/own-command.ts';

/** Prints why a command failed: one line for an OperatorError, else the stack, because it is a bug. */
export function reportFailure(error: unknown): void {
  if (error instanceof OperatorError) process.stderr.write(`homeport: ${withOwnCommand(error.message)}\n`);
  else process.stderr.write(`homeport: ${error instanceof Error ? error.stack : String(error)}\n`);
  process.exitCode = 1;
}
