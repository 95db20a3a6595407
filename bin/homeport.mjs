#!/usr/bin/env node
// Plain JavaScript, so that it also starts on an old Node: `npx homeport` runs it on the one that npm runs on.
import { spawn } from 'node:child_process';
import * as nodeModule from 'node:module';
import { constants } from 'node:os';
import { fileURLToPath } from 'node:url';
import { findNode, isNewEnough } from './find-node.mjs';

if (isNewEnough()) {
  // Without it each start strips types and compiles again: a third more time and 20 MB. Does nothing if the folder is read-only.
  nodeModule.enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/homeport', import.meta.url)));
  const { findBuiltProgram } = await import('./built-program.ts');
  await import(findBuiltProgram() ?? '../src/main.ts');
} else {
  try {
    runAgainWith(findNode());
  } catch (error) {
    process.stderr.write(`homeport: ${error.message}\n`);
    process.exitCode = 1;
  }
}

/** Runs this command with another Node: in place of this process, or before Node 22.15 as a child that gets its signals. */
function runAgainWith(node) {
  const command = [fileURLToPath(import.meta.url), ...process.argv.slice(2)];
  if (process.execve !== undefined) process.execve(node, [node, ...command]);
  // Before the child runs: a signal in between would end this process alone.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  const child = spawn(node, command, { stdio: 'inherit' });
  child.on('error', (error) => {
    process.stderr.write(`homeport: ${error.message}\n`);
    process.exit(1);
  });
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code);
    process.removeAllListeners(signal);
    // The first process of a container survives its own signals and must not report success: its restart policy may depend on that.
    process.exitCode = 128 + constants.signals[signal];
    process.kill(process.pid, signal);
  });
}
