import { constants } from 'node:fs';
import { access, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ifThere } from '../../../lib/if-there.ts';
import type { LinuxLayout } from './layout.ts';

/** An installed PHP version that websites can run on. */
export interface PhpRuntime {
  /** `major.minor`. */
  version: string;
  /** Root of the system that it is part of: `/`, or the folder of another Debian. */
  root: string;
  /** Path of the FastCGI process manager, relative to `root`. */
  fpm: string;
  /** Path of the command-line program, relative to `root`. */
  cli: string;
  /** Extensions that the process manager loads, sorted: `mysqli`, `opcache`. */
  modules: readonly string[];
}

/** WordPress needs these, or its Site Health page recommends them. */
const REQUIRED_MODULES = [
  'curl',
  'dom',
  'gd',
  'imagick',
  'intl',
  'mbstring',
  'mysqli',
  'opcache',
  'redis',
  'zip',
];

/** Extensions that WordPress needs and the runtime lacks. */
export function missingModules(runtime: PhpRuntime): string[] {
  return REQUIRED_MODULES.filter((module) => !runtime.modules.includes(module));
}

/**
 * The installed PHP versions, newest first: the machine's own, and those of other Debians in `layout.phpRoots`, where the
 * folder `8.4` must contain PHP 8.4. The machine's own wins if a version is in both places.
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

/** Debian enables an extension by a link `<order>-<name>.ini` to `<name>.ini`. */
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
