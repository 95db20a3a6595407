import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { CommandError, runCommand } from '../../../lib/run-command.ts';
import { PACKAGE } from './packages.ts';
import { run } from './surviving-terminal.ts';

/** Variables of dpkg(1), such as another database. */
export type DpkgEnvironment = Readonly<Record<string, string>>;

export const DATABASE = '/var/lib/dpkg';
/** dpkg's words if another program installs packages. It has the same exit code after many other faults. */
const IS_LOCKED = /locked by another process|Another process has locked/;
const LOOK_EVERY_MS = 5_000;
const LOCK_MS = 600_000;
/** Characters of the last messages. */
const MOST_SAID = 10_000;

/** Whether dpkg succeeded. Unlike apt, it does not wait for others, such as unattended-upgrades. */
export async function runDpkg(
  words: readonly string[],
  environment: DpkgEnvironment = {},
  lookEveryMs = LOOK_EVERY_MS,
): Promise<boolean> {
  const until = performance.now() + LOCK_MS;
  for (;;) {
    let said = '';
    const status = await run('dpkg', words, { LC_ALL: 'C', ...environment }, (text) => {
      said = `${said}${text}`.slice(-MOST_SAID);
    });
    if (status === 0) return true;
    if (!IS_LOCKED.test(said) || performance.now() > until) return false;
    await pause(lookEveryMs);
  }
}

/**
 * Whether the package is complete in this version. First lets dpkg complete what was unpacked and merge its changes: apt refuses to work beside
 * both.
 */
export async function configurePackage(version: string, environment: DpkgEnvironment = {}): Promise<boolean> {
  if (await hasChanges(environment)) await runDpkg(['--configure', '--pending'], environment);
  if ((await installedVersion(environment)) === version) return true;
  return (
    (await runDpkg(['--configure', PACKAGE], environment)) &&
    (await installedVersion(environment)) === version
  );
}

/**
 * Lets dpkg finish what a kill has interrupted, because apt refuses to go on. `file`: the package that was unpacked. A failure of dpkg is left
 * to apt, which can install packages that are missing.
 */
export async function finishInterrupted(file: string, environment: DpkgEnvironment = {}): Promise<void> {
  const words = ['--show', `--showformat=\${db:Status-Status}`, PACKAGE];
  const { stdout: status } = await runCommand('dpkg-query', words, { environment });
  if (status === 'half-installed') await runDpkg(['--unpack', file], environment);
  if (status !== 'installed' || (await hasChanges(environment)))
    await runDpkg(['--configure', '--pending'], environment);
}

/** Whether there are changes of its database that dpkg has not merged yet. */
const hasChanges = async (environment: DpkgEnvironment): Promise<boolean> =>
  (await readdir(join(environment.DPKG_ADMINDIR ?? DATABASE, 'updates'))).length > 0;

/** Of the package, also while dpkg was interrupted; empty without one. */
export async function packageVersion(): Promise<string> {
  try {
    return (await runCommand('dpkg-query', ['--show', `--showformat=\${Version}`, PACKAGE])).stdout;
  } catch (error) {
    if (error instanceof CommandError) return '';
    throw error;
  }
}

/** The version of the package if it is installed completely. */
export async function installedVersion(environment: DpkgEnvironment = {}): Promise<string> {
  const format = `--showformat=\${db:Status-Status} \${Version}`;
  const { stdout } = await runCommand('dpkg-query', ['--show', format, PACKAGE], { environment });
  return stdout.replace(/^installed /, '');
}
