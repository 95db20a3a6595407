/** A process that runs a program as an upgrade does: one that writes to its output, and then creates the file of the argument. */
import { run, surviveTerminal } from './surviving-terminal.ts';

surviveTerminal(() => {});
process.exitCode =
  (await run('/bin/sh', ['-c', 'echo out && echo more >&2 && : > "$0"', process.argv[2] ?? ''])) ?? 1;
