import { OperatorError } from '../../../lib/operator-error.ts';
import { PHP_PACKAGES } from '../machine/php-extensions.ts';
import {
  completingCommand,
  isComplete,
  missingModules,
  type PhpRuntime,
  shortcoming,
} from '../machine/php-runtimes.ts';
import type { Apt } from './apt.ts';

export interface PhpVersionsParts {
  apt: Apt;
  /** The PHP versions of this machine and of the roots beside it, newest first. */
  runtimes(): Promise<PhpRuntime[]>;
  /** Names of the installs on this machine that run on a version. */
  installsOn(version: string): Promise<string[]>;
}

/** A PHP version of this machine, or one that its package sources have. */
export interface ListedPhp {
  /** `major.minor`. */
  version: string;
  state: 'complete' | 'incomplete' | 'available';
  /** Root of the Debian that has it; null if it is only available. */
  root: string | null;
  /** The missing parts of an incomplete version, as the end of a sentence. */
  shortcoming: string | null;
  /** Newest package version in the sources, and the source; null if none has it. */
  offered: { version: string; source: string } | null;
  /** Whether it is the version that the package `php-fpm` of this Debian release installs. */
  isOfRelease: boolean;
  installs: string[];
  /** The command that completes or adds it. */
  command: string | null;
}

/** Extensions that common plugins use, besides those that websites need. */
const RECOMMENDED = ['bcmath', 'opcache'];
const EVERY_VERSION = '^php[0-9]+\\.[0-9]+-fpm$';

/** Versions of PHP on this machine and in its package sources, newest first. Asks no network. */
export async function listPhpVersions(parts: PhpVersionsParts): Promise<ListedPhp[]> {
  const offered = await offeredVersions(parts.apt);
  const installed = await parts.runtimes();
  const ofRelease = await releaseVersion(parts.apt);
  const versions = new Set([...installed.map(({ version }) => version), ...offered.keys()]);
  const listed = [...versions].map(async (version): Promise<ListedPhp> => {
    const runtime = installed.find((candidate) => candidate.version === version);
    const whole = runtime !== undefined && isComplete(runtime);
    const adds = whole ? null : `homeport host php add ${version}`;
    return {
      version,
      state: runtime === undefined ? 'available' : whole ? 'complete' : 'incomplete',
      root: runtime?.root ?? null,
      shortcoming: runtime === undefined || whole ? null : shortcoming(runtime),
      offered: offered.get(version) ?? null,
      isOfRelease: version === ofRelease,
      installs: runtime === undefined ? [] : await parts.installsOn(version),
      command: runtime === undefined ? adds : whole ? null : completingCommand(runtime),
    };
  });
  const compare = (a: ListedPhp, b: ListedPhp) => b.version.localeCompare(a.version, 'en', { numeric: true });
  return (await Promise.all(listed)).sort(compare);
}

/**
 * Installs a PHP version with its extensions from the package sources of this machine. Returns the packages that it installed; none if
 * nothing was missing. Throws OperatorError for a version that no source has. `report`: called before each step that takes long.
 */
export async function installPhpVersion(
  parts: PhpVersionsParts,
  version: string,
  report: (step: string) => void = () => {},
): Promise<string[]> {
  const { apt } = parts;
  const beside = (await parts.runtimes()).find((candidate) => candidate.version === version);
  const isOnMachine = beside?.root === '/';
  if (isOnMachine && isComplete(beside) && (await missingOf(apt, version)).length === 0) return [];
  if (!isOnMachine && beside !== undefined && isComplete(beside)) return [];
  report('fetching package lists');
  await apt.update();
  if (!(await offeredVersions(apt)).has(version)) throw await notOffered(parts, version, beside);
  const names = await missingOf(apt, version);
  if (names.length === 0) return [];
  report(`installing ${names.length === 1 ? '1 package' : `${names.length} packages`}`);
  await apt.install(names);
  return names;
}

/**
 * Enables extensions that are installed but not enabled, and runs the version. Returns the enabled ones. Throws an OperatorError if it
 * still lacks an extension that websites need.
 */
export async function completePhpVersion(
  { apt, runtimes }: PhpVersionsParts,
  version: string,
): Promise<string[]> {
  const find = async () => (await runtimes()).find((candidate) => candidate.version === version);
  const before = await find();
  if (before !== undefined && isComplete(before)) return [];
  const missing = before === undefined || before.fault !== null ? [] : missingModules(before);
  if (before?.root === '/' && missing.length > 0) await apt.enable(version, missing);
  const after = await find();
  if (after !== undefined && isComplete(after)) return missing;
  const reason = after === undefined ? 'is not where Debian installs it' : shortcoming(after);
  throw new OperatorError(
    `PHP ${version} ${reason}. The package sources of this machine have no more for it, so it is not offered to installs. ` +
      'Name a source that has the rest with --source and --key.',
  );
}

/** Removes a PHP version of this machine. Returns the removed packages; none if it is not there. Throws OperatorError. */
export async function removePhpVersion(parts: PhpVersionsParts, version: string): Promise<string[]> {
  const { apt } = parts;
  if ((await releaseVersion(apt)) === version) {
    throw new OperatorError(
      `PHP ${version} is the version of this Debian release, which set-up installs. It stays.`,
    );
  }
  const installs = await parts.installsOn(version);
  if (installs.length > 0) {
    throw new OperatorError(
      `Installs run on PHP ${version}: ${installs.join(', ')}. Switch each with "homeport install php <install> <version>" first.`,
    );
  }
  const names = await apt.installed(`php${version}-*`);
  if (names.length === 0) {
    const beside = (await parts.runtimes()).find((candidate) => candidate.version === version);
    if (beside === undefined) return [];
    throw new OperatorError(`PHP ${version} is no package of this machine. Delete its root: ${beside.root}`);
  }
  const others = (await apt.removedWith(names)).filter((name) => !names.includes(name));
  if (others.length > 0) {
    throw new OperatorError(
      `Other packages need PHP ${version}: ${others.join(', ')}. Remove them first if you do not need them.`,
    );
  }
  await apt.remove(names);
  return names;
}

/** Packages of a version that the sources have and this machine lacks. Extensions without one may be part of PHP itself. */
async function missingOf(apt: Apt, version: string): Promise<string[]> {
  const wanted = [...PHP_PACKAGES, ...RECOMMENDED].map((part) => `php${version}-${part}`);
  const offered = new Set((await apt.offered(wanted)).map(({ name }) => name));
  const present = new Set(await apt.installed(`php${version}-*`));
  return wanted.filter((name) => offered.has(name) && !present.has(name));
}

async function offeredVersions(apt: Apt): Promise<Map<string, { version: string; source: string }>> {
  const versions = new Map<string, { version: string; source: string }>();
  for (const { name, version, source } of await apt.offered(await apt.search(EVERY_VERSION))) {
    const ofPhp = /^php(\d+\.\d+)-fpm$/.exec(name)?.[1];
    if (ofPhp !== undefined && !versions.has(ofPhp)) versions.set(ofPhp, { version, source });
  }
  return versions;
}

/** The version that `php-fpm`, a package of set-up, installs; null if `php-fpm` is not installed. */
async function releaseVersion(apt: Apt): Promise<string | null> {
  const names = await apt.dependencies('php-fpm');
  return (
    names.map((name) => /^php(\d+\.\d+)-fpm$/.exec(name)?.[1]).find((found) => found !== undefined) ?? null
  );
}

async function notOffered(
  { apt }: PhpVersionsParts,
  version: string,
  beside: PhpRuntime | undefined,
): Promise<OperatorError> {
  if (beside !== undefined && beside.root !== '/') {
    return new OperatorError(
      `PHP ${version} in ${beside.root} ${shortcoming(beside)}. Run "${completingCommand(beside)}".`,
    );
  }
  const versions = [...(await offeredVersions(apt)).keys()].join(', ') || 'no PHP';
  return new OperatorError(
    `No package source of this machine has PHP ${version}; they have ${versions}. To use another source, name it with ` +
      '--source and its signing key with --key.',
  );
}
