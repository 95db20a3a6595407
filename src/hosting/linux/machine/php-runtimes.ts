import { constants } from 'node:fs';
import { access, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ifThere } from '../../../lib/if-there.ts';
import { CommandError } from '../../../lib/run-command.ts';
import type { LinuxLayout } from './layout.ts';
import { missingExtensions, packagesOf } from './php-extensions.ts';
import { loadedModules, type PhpProgram } from './php-modules.ts';

/** Asks a process manager for its extensions; tests have their own. */
type AskModules = typeof loadedModules;

/** An installed PHP version that websites can run on. */
export interface PhpRuntime extends PhpProgram {
  /** Path of the command-line program, relative to `root`. */
  cli: string;
  /** Extensions that the process manager loads, sorted: `mysqli`, `opcache`. */
  modules: readonly string[];
  /** Why the process manager does not start, and so has no known extensions; null if it does. */
  fault: string | null;
}

/** Extensions that websites need and the runtime lacks. */
export function missingModules({ modules }: Pick<PhpRuntime, 'modules'>): string[] {
  return missingExtensions(modules);
}

/** Whether new websites may get it: it starts, and lacks nothing. */
export function isComplete(runtime: PhpRuntime): boolean {
  return runtime.fault === null && missingModules(runtime).length === 0;
}

/** The fault of an incomplete runtime, as the end of a sentence about it: `lacks redis`. */
export function shortcoming(runtime: PhpRuntime): string {
  return runtime.fault === null
    ? `lacks ${missingModules(runtime).join(', ')}`
    : `does not start: ${runtime.fault}`;
}

/** The command that completes an incomplete runtime. apt of the machine does not reach another Debian's root. */
export function completingCommand(runtime: PhpRuntime): string {
  const { root, version } = runtime;
  if (root === '/') return `homeport host php add ${version}`;
  const packages = packagesOf(version, missingModules(runtime));
  return `chroot ${root} apt-get install --no-install-recommends ${packages.join(' ')}`;
}

/** The runtime for work that needs some PHP: the newest complete one, else the newest. */
export function preferredRuntime(runtimes: readonly PhpRuntime[]): PhpRuntime | undefined {
  return runtimes.find(isComplete) ?? runtimes[0];
}

/**
 * The installed PHP versions, newest first: the machine's own, and those of other Debians in `layout.phpRoots`, where the
 * folder `8.4` must contain PHP 8.4. The machine's own wins if a version is in both places.
 */
export async function findPhpRuntimes(
  layout: Pick<LinuxLayout, 'phpRoots'>,
  machineRoot = '/',
  ask: AskModules = loadedModules,
): Promise<PhpRuntime[]> {
  const own = await runtimesIn(machineRoot, ask);
  const others: PhpRuntime[] = [];
  for (const version of await entries(layout.phpRoots)) {
    const found = await runtimesIn(join(layout.phpRoots, version), ask);
    others.push(...found.filter((runtime) => runtime.version === version));
  }
  const versions = new Map([...others, ...own].map((runtime) => [runtime.version, runtime]));
  return [...versions.values()].sort((a, b) => compareVersions(b.version, a.version));
}

async function runtimesIn(root: string, ask: AskModules): Promise<PhpRuntime[]> {
  const runtimes: PhpRuntime[] = [];
  for (const name of await entries(join(root, 'usr/sbin'))) {
    const version = /^php-fpm(\d+\.\d+)$/.exec(name)?.[1];
    if (version === undefined) continue;
    const fpm = `/usr/sbin/${name}`;
    const cli = `/usr/bin/php${version}`;
    if (!(await isProgram(join(root, fpm))) || !(await isProgram(join(root, cli)))) continue;
    runtimes.push({ version, root, fpm, cli, ...(await modulesOf({ version, root, fpm }, ask)) });
  }
  return runtimes;
}

async function modulesOf(
  program: PhpProgram,
  ask: AskModules,
): Promise<Pick<PhpRuntime, 'modules' | 'fault'>> {
  try {
    return { modules: await ask(program), fault: null };
  } catch (error) {
    if (error instanceof CommandError) return { modules: [], fault: firstLine(error) };
    throw error;
  }
}

function firstLine(error: CommandError): string {
  const [line = ''] = (error.stderr.trim() || error.message).split('\n', 1);
  return line;
}

async function entries(folder: string): Promise<string[]> {
  return ((await ifThere(readdir(folder))) ?? []).sort();
}

async function isProgram(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function compareVersions(a: string, b: string): number {
  const [majorA = 0, minorA = 0] = a.split('.').map(Number);
  const [majorB = 0, minorB = 0] = b.split('.').map(Number);
  return majorA - majorB || minorA - minorB;
}
