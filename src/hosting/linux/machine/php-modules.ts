import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ifThere } from '../../../lib/if-there.ts';
import { runCommand } from '../../../lib/run-command.ts';

/** The process manager of a PHP version. */
export interface PhpProgram {
  /** `major.minor`. */
  version: string;
  /** Root of the system that it is part of: `/`, or the folder of another Debian. */
  root: string;
  /** Path of the process manager, relative to `root`. */
  fpm: string;
}

/** Answers of programs that have not changed since. Asking takes a tenth of a second, and every operation on a website needs it. */
const answers = new Map<string, { stamp: string; modules: Promise<string[]> }>();

/**
 * Extensions that the process manager really loads, sorted and in lower case. Settings can name an extension whose file is missing,
 * so this runs the program. Rejects with a CommandError if it does not run.
 */
export async function loadedModules(program: PhpProgram): Promise<string[]> {
  const key = join(program.root, program.fpm);
  const stamp = await stampOf(program);
  const known = answers.get(key);
  if (known?.stamp === stamp) return known.modules;
  const modules = askModules(program);
  answers.set(key, { stamp, modules });
  // A failure can pass, such as that of a busy machine.
  modules.catch(() => {
    if (answers.get(key)?.modules === modules) answers.delete(key);
  });
  return modules;
}

async function askModules({ version, root, fpm }: PhpProgram): Promise<string[]> {
  const [file, ...args] =
    root === '/'
      ? [fpm, '-m']
      : [
          ...['/usr/bin/bwrap', '--unshare-all', '--die-with-parent', '--clearenv'],
          ...['--ro-bind', join(root, 'usr'), '/usr'],
          ...['bin', 'lib', 'lib64'].flatMap((name) => ['--symlink', `usr/${name}`, `/${name}`]),
          ...['--ro-bind', join(root, 'etc/php', version), `/etc/php/${version}`],
          ...['--proc', '/proc', '--dev', '/dev', '--tmpfs', '/tmp', '--', fpm, '-m'],
        ];
  const { stdout } = await runCommand(file ?? fpm, args);
  return modulesIn(stdout);
}

/** The extensions in the output of `php -m`. Pure. */
export function modulesIn(output: string): string[] {
  const names = output
    .split('\n')
    .map((line) =>
      line
        .trim()
        .toLowerCase()
        .replace(/^zend /, ''),
    )
    .filter((line) => line !== '' && !line.startsWith('['));
  return [...new Set(names)].sort();
}

/** Changes when packages add or remove the program, an extension or its settings. */
async function stampOf({ version, root, fpm }: PhpProgram): Promise<string> {
  const libraries = join(root, 'usr/lib/php');
  const folders = (await ifThere(readdir(libraries))) ?? [];
  const paths = [
    join(root, fpm),
    join(root, 'etc/php', version, 'fpm/conf.d'),
    ...folders.sort().map((name) => join(libraries, name)),
  ];
  const times = await Promise.all(
    paths.map(async (path) => {
      const found = await ifThere(stat(path));
      return found === null ? '-' : `${found.ino}.${found.mtimeMs}.${found.ctimeMs}`;
    }),
  );
  return times.join(' ');
}
