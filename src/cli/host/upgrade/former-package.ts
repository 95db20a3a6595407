import { chmod, copyFile, link, lstat, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { hasCode } from '../../../lib/error-code.ts';
import { ifThere } from '../../../lib/if-there.ts';
import { runCommand } from '../../../lib/run-command.ts';
import { DATABASE, type DpkgEnvironment } from './dpkg.ts';
import { PACKAGE, SLOW_MS } from './packages.ts';

/** Files of dpkg's database that belong into a package. */
const CONTROL = ['md5sums', 'templates', 'postinst', 'prerm', 'postrm', 'preinst', 'conffiles'];
/** Lines that dpkg adds to the control file of an installed package. */
const STATUS = /^(Status|Config-Version|Conffiles):.*\n(?: .*\n)*/gm;

/**
 * Copies the files of the installed package into the folder `tree`, by hard links where that is possible. The copy keeps them while dpkg
 * replaces them, and the program in it runs. `environment`: of dpkg.
 */
export async function keepInstalledFiles(tree: string, environment: DpkgEnvironment = {}): Promise<void> {
  await rm(tree, { recursive: true, force: true });
  const { stdout } = await runCommand('dpkg-query', ['--listfiles', PACKAGE], { environment });
  for (const path of stdout.split('\n').filter((line) => line.startsWith('/'))) {
    const stat = await ifThere(lstat(path));
    if (stat === null || stat.isDirectory()) continue;
    const to = join(tree, path);
    await mkdir(dirname(to), { recursive: true });
    await linkOrCopy(path, to, stat.isSymbolicLink());
  }
  await openFolders(tree);
}

/** The control plane reads them as its own user, and dpkg-deb refuses others, whatever the umask of root is. */
const openFolders = (folder: string) =>
  runCommand('find', [folder, '-type', 'd', '-exec', 'chmod', '755', '{}', '+']);

async function linkOrCopy(from: string, to: string, isLink: boolean): Promise<void> {
  try {
    await link(from, to);
  } catch (error) {
    if (!hasCode(error, 'EXDEV')) throw error;
    if (isLink) await runCommand('cp', ['--no-dereference', '--preserve=all', from, to]);
    else await copyFile(from, to);
    if (!isLink) await chmod(to, (await lstat(from)).mode);
  }
}

/** Makes a package of the files that {@link keepInstalledFiles} has kept, because apt keeps none of a file. It is complete once it has its name. */
export async function rebuildPackage(
  tree: string,
  file: string,
  environment: DpkgEnvironment = {},
): Promise<void> {
  const control = join(tree, 'DEBIAN');
  await mkdir(control, { recursive: true });
  await openFolders(control);
  const { stdout: status } = await runCommand('dpkg-query', ['--status', PACKAGE], { environment });
  await writeFile(join(control, 'control'), `${status.replace(STATUS, '').trimEnd()}\n`);
  for (const name of CONTROL) {
    const from = join(environment.DPKG_ADMINDIR ?? DATABASE, 'info', `${PACKAGE}.${name}`);
    if ((await ifThere(readFile(from))) === null) continue;
    await copyFile(from, join(control, name));
    await chmod(join(control, name), (await lstat(from)).mode);
  }
  const unfinished = `${file}.part`;
  // dpkg-deb writes the compressed files there first. /tmp can be small, or memory.
  const place = { ...environment, TMPDIR: dirname(file) };
  // Fast rather than small: it is needed for minutes.
  const words = ['--root-owner-group', '-Zzstd', '-z1', '--build', tree, unfinished];
  await runCommand('dpkg-deb', words, { environment: place, timeoutMs: SLOW_MS });
  await rm(control, { recursive: true });
  await runCommand('mv', ['--force', unfinished, file]);
}
