import { constants } from 'node:fs';
import { access, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ifThere } from '../../../lib/if-there.ts';
import type { LinuxLayout } from './layout.ts';

/** A PHP that websites can run on. */
export interface PhpRuntime {
  /** `major.minor`. */
  version: string;
  /** The root of the system that it is part of: `/`, or the folder of another Debian. */
  root: string;
  /** Path of the FastCGI process manager, as seen from `root`. */
  fpm: string;
  /** Path of the command-line program, as seen from `root`. */
  cli: string;
  /** Extensions that its process manager loads, sorted: `mysqli`, `opcache`. */
  modules: readonly string[];
}

/** Without these WordPress does not run, or not as users expect (its own "site health" asks for them). */
const REQUIRED_MODULES = ['curl', 'dom', 'gd', 'intl', 'mbstring', 'mysqli', 'opcache', 'redis', 'zip'];

/** What a runtime lacks for WordPress: names of extensions, none if it is complete. */
export function missingModules(runtime: PhpRuntime): string[] {
  return REQUIRED_MODULES.filter((module) => !runtime.modules.includes(module));
}

/**
 * The PHPs that there are, newest first: the machine's own, and those of other Debians in `layout.phpRoots`, of which the
 * folder `8.4` is to hold one with PHP 8.4. A version that is in both places is the machine's own.
 */
export async function findPhpRuntimes(
  layout: Pick<LinuxLayout, 'phpRoots'>,
  machineRoot = '/',
): Promise<PhpRuntime[]> {
  const own = await runtimesIn(machineRoot);
  const others: PhpRuntime[] = [];
  for (const version of await entries(layout.phpRoots)) {
    const found = await runtimesIn(join(layout.phpRoots, version));
    others.push(...found.filter((runtime) => runtime.version === version));
  }
  const versions = new Map([...others, ...own].map((runtime) => [runtime.version, runtime]));
  return [...versions.values()].sort((a, b) => compareVersions(b.version, a.version));
}

async function runtimesIn(root: string): Promise<PhpRuntime[]> {
  const runtimes: PhpRuntime[] = [];
  for (const name of await entries(join(root, 'usr/sbin'))) {
    const version = /^php-fpm(\d+\.\d+)$/.exec(name)?.[1];
    if (version === undefined) continue;
    const fpm = `/usr/sbin/${name}`;
    const cli = `/usr/bin/php${version}`;
    if (!(await isProgram(join(root, fpm))) || !(await isProgram(join(root, cli)))) continue;
    runtimes.push({ version, root, fpm, cli, modules: await modulesOf(root, version) });
  }
  return runtimes;
}

/** Debian enables an extension by a link `<order>-<name>.ini`, which leads to `<name>.ini`. */
async function modulesOf(root: string, version: string): Promise<string[]> {
  const names = await entries(join(root, 'etc/php', version, 'fpm/conf.d'));
  const modules = names.map((name) => /^(?:\d+-)?([a-z0-9_]+)\.ini$/.exec(name)?.[1]);
  return modules.filter((module) => module !== undefined).sort();
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
