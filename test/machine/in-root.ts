import { runCommand } from '../../src/lib/run-command.ts';

export interface InRootOptions {
  /** Where the program starts, seen from inside; `/` if left out. */
  folder?: string;
  environment?: Record<string, string>;
  timeoutMs?: number;
}

/**
 * Runs a program natively in the root folder of a system that is not booted, with a private /proc. Mounts and processes end with
 * the namespaces.
 */
export async function inRoot(
  root: string,
  command: readonly string[],
  { folder = '/', environment = {}, timeoutMs = 300_000 }: InRootOptions = {},
): Promise<string> {
  const { stdout } = await runCommand(
    'unshare',
    [
      ...['--mount', '--pid', '--fork', '--kill-child'],
      ...[`--root=${root}`, `--wd=${folder}`, '--mount-proc', '--', ...command],
    ],
    { environment: { HOME: '/root', DEBIAN_FRONTEND: 'noninteractive', ...environment }, timeoutMs },
  );
  return stdout;
}
