import { OperatorError } from '../../lib/operator-error.ts';

/** Why a command failed, as it is printed: what its operator can mend in one line; anything else is a fault of ours, and needs its stack. */
export function reportFailure(error: unknown): void {
  if (error instanceof OperatorError) process.stderr.write(`homeport: ${error.message}\n`);
  else process.stderr.write(`homeport: ${error instanceof Error ? error.stack : String(error)}\n`);
  process.exitCode = 1;
}
