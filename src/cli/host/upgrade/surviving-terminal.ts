import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { WATCHED } from './packages.ts';

/** An upgrade that ends with its terminal would leave the machine between two versions. `refuse` is called instead of an end. */
export function surviveTerminal(refuse: () => void): void {
  for (const signal of ['SIGINT', 'SIGHUP', 'SIGTERM'] as const) process.on(signal, refuse);
  for (const output of [process.stdout, process.stderr]) output.on('error', () => {});
}

/**
 * Runs a program in a separate session, so that no signal of the terminal reaches it. It writes into pipes of this process, because dpkg stops
 * in the middle if it cannot write to a terminal that was lost. Returns its exit code; null after a signal. `onError` gets what it writes to
 * standard error.
 */
export async function run(
  program: string,
  words: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  onError: (text: string) => void = () => {},
): Promise<number | null> {
  const child = spawn(program, words, {
    cwd: '/',
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive', [WATCHED]: 'yes', ...environment },
  });
  child.stdout.on('data', (chunk: Buffer) => process.stdout.write(chunk));
  child.stderr.on('data', (chunk: Buffer) => {
    process.stderr.write(chunk);
    onError(chunk.toString());
  });
  // A daemon that it started may keep the pipes open.
  const [status]: unknown[] = await once(child, 'exit');
  return typeof status === 'number' ? status : null;
}
