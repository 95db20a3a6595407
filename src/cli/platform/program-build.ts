import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setPriority } from 'node:os';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { Logger } from 'pino';
import { OperatorError } from '../../lib/operator-error.ts';
import { IS_RELEASE } from '../../lib/program-version.ts';

const BUILD = [fileURLToPath(new URL('../../../bin/build-program.ts', import.meta.url)), '--if-writable'];
/** Of a build beside a server that answers requests. */
const LOW_PRIORITY = 10;

/**
 * Builds the program if it is missing or outdated and this user may write it. Returns whether it built. A child process builds, so that
 * the bundler is not loaded here. Throws OperatorError.
 */
export async function provideProgram(): Promise<boolean> {
  if (IS_RELEASE) return false;
  const child = spawn(process.execPath, BUILD, { stdio: ['ignore', 'pipe', 'inherit'] });
  const [printed] = await Promise.all([text(child.stdout), once(child, 'close')]);
  if (child.exitCode !== 0) throw new OperatorError('The program could not be built, for the reason above.');
  return printed === 'built\n';
}

/** Builds the program for the next start of a server. Does not keep the process alive. */
export async function provideNextProgram(log: Logger): Promise<void> {
  if (IS_RELEASE) return;
  try {
    const child = spawn(process.execPath, BUILD, { stdio: 'ignore' });
    child.unref();
    const ended = once(child, 'exit');
    if (child.pid !== undefined) setPriority(child.pid, LOW_PRIORITY);
    await ended;
    if (child.exitCode === 0 || child.signalCode !== null) return;
    log.warn('could not build the program; "npm run build" shows the reason');
  } catch (err) {
    log.warn({ err }, 'could not build the program');
  }
}
