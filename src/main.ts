import { createProgram } from './cli/program.ts';
import { OperatorError } from './operator-error.ts';

try {
  await createProgram().parseAsync();
} catch (error) {
  // What its operator can mend is one line; anything else is a fault of ours, and needs its stack.
  if (error instanceof OperatorError) process.stderr.write(`homeport: ${error.message}\n`);
  else process.stderr.write(`homeport: ${error instanceof Error ? error.stack : String(error)}\n`);
  process.exitCode = 1;
}
