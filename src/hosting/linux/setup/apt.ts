import { CommandError, runCommand, succeeds } from '../../../lib/run-command.ts';
import { installPackages, PATIENTLY } from './packages.ts';

/** A version of a package that a source has: `8.4.16-1~deb13u1` from `https://packages.example/debian trixie/main`. */
export interface OfferedPackage {
  name: string;
  version: string;
  source: string;
}

/** Debian's package tool on this machine. Tests have their own. */
export interface Apt {
  /** Fetches the lists of all sources, as far as they answer. */
  update(): Promise<void>;
  /** Fetches the list of one source. Rejects with a CommandError if it does not answer or its signature is wrong. */
  updateFrom(sourceFile: string): Promise<void>;
  /** Names of the packages that match a regular expression, installed or in a source. */
  search(pattern: string): Promise<string[]>;
  /** What the sources have of packages, the newest first; nothing for unknown names. */
  offered(names: readonly string[]): Promise<OfferedPackage[]>;
  /** Names of the installed packages that match a pattern like `php8.4-*`. */
  installed(pattern: string): Promise<string[]>;
  /** The names in `Depends` of an installed package; none if it is not installed. */
  dependencies(name: string): Promise<string[]>;
  /** Installs packages without starting their services. */
  install(names: readonly string[]): Promise<void>;
  /** Enables extensions of a PHP version in its settings. Unknown ones stay missing. */
  enable(phpVersion: string, extensions: readonly string[]): Promise<void>;
  /** Names of all packages that {@link remove} would remove. */
  removedWith(names: readonly string[]): Promise<string[]>;
  /** Removes packages. Their settings stay. */
  remove(names: readonly string[]): Promise<void>;
}

const MANY_MS = 600_000;
/** dpkg's placeholders, written so that linters do not take them for template literals. */
const placeholder = (name: string) => ['$', `{${name}}`].join('');
const STATUS_FORMAT = `${placeholder('db:Status-Status')} ${placeholder('Package')}\n`;

export function createApt(): Apt {
  return {
    async update() {
      await runCommand('apt-get', [...PATIENTLY, 'update', '--quiet'], { timeoutMs: MANY_MS });
    },
    async updateFrom(sourceFile) {
      const settings = [
        `Dir::Etc::sourcelist=${sourceFile}`,
        'Dir::Etc::sourceparts=-',
        // The lists of the other sources stay.
        'APT::Get::List-Cleanup=0',
        // Without this, apt-get succeeds even if the source does not answer.
        'APT::Update::Error-Mode=any',
      ];
      const options = settings.flatMap((setting) => ['-o', setting]);
      await runCommand('apt-get', [...PATIENTLY, ...options, 'update', '--quiet'], { timeoutMs: MANY_MS });
    },
    async search(pattern) {
      const { stdout } = await runCommand('apt-cache', ['search', '--names-only', pattern]);
      return stdout.split('\n').flatMap((line) => /^(\S+) - /.exec(line)?.[1] ?? []);
    },
    async offered(names) {
      if (names.length === 0) return [];
      const { stdout } = await runCommand('apt-cache', ['madison', ...names]);
      return offeredIn(stdout);
    },
    installed: async (pattern) => {
      const { stdout } = await dpkgQuery(STATUS_FORMAT, pattern);
      return stdout.split('\n').flatMap((line) => /^installed (\S+)$/.exec(line)?.[1] ?? []);
    },
    async dependencies(name) {
      const { stdout } = await dpkgQuery(`${placeholder('Depends')}\n`, name);
      return stdout.split(/[,|\n]/).flatMap((part) => /^\s*([^\s(]+)/.exec(part)?.[1] ?? []);
    },
    install: (names) => installPackages([...names]),
    async enable(phpVersion, extensions) {
      // It fails for an extension that is not installed, and the caller asks PHP for the result anyway.
      for (const name of extensions) await succeeds('phpenmod', ['-v', phpVersion, name]);
    },
    async removedWith(names) {
      const { stdout } = await runCommand('apt-get', ['--simulate', 'remove', ...names]);
      return stdout.split('\n').flatMap((line) => /^Remv (\S+)/.exec(line)?.[1] ?? []);
    },
    async remove(names) {
      const environment = { DEBIAN_FRONTEND: 'noninteractive' };
      const options = { environment, timeoutMs: MANY_MS };
      await runCommand('apt-get', [...PATIENTLY, 'remove', '--yes', '--quiet', ...names], options);
    },
  };
}

/** Lines of `apt-cache madison`: name, version, source and kind between bars. Lines of source code packages do not count. */
function offeredIn(output: string): OfferedPackage[] {
  return output.split('\n').flatMap((line) => {
    const [name = '', version = '', from = ''] = line.split('|').map((part) => part.trim());
    const source = /^(.+) \S+ Packages$/.exec(from)?.[1];
    return source === undefined ? [] : [{ name, version, source }];
  });
}

/** Fails with status 1 if it knows no such package. */
function dpkgQuery(format: string, pattern: string): Promise<{ stdout: string }> {
  return runCommand('dpkg-query', ['--show', `--showformat=${format}`, pattern]).catch((error: unknown) => {
    if (error instanceof CommandError && error.status === 1) return { stdout: error.stdout };
    throw error;
  });
}
