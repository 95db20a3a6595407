import { chmod, copyFile, link, lstat, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { hasCode } from '../../../lib/error-code.ts';
import { ifThere } from '../../../lib/if-there.ts';
import { runCommand } from '../../../lib/run-command.ts';
import { PACKAGE, SLOW_MS } from './packages.ts';

const DATABASE = '/var/lib/dpkg/info';
/** Files of dpkg's database that belong into a package. */
const CONTROL = ['md5sums', 'templates', 'postinst', 'prerm', 'postrm', 'preinst', 'conffiles'];
/** Lines that dpkg adds to the control file of an installed package. */
const STATUS = /^(Status|Config-Version|Conffiles):.*\n(?: .*\n)*/gm;

/**
 * Copies the files of the installed package into the folder `tree`, by hard links where that is possible. The copy keeps them while dpkg
 * replaces them, and the program in it runs.
 */
export async function keepInstalledFiles(tree: string): Promise<void> {
  await rm(tree, { recursive: true, force: true });
  const { stdout } = await runCommand('dpkg-query', ['--listfiles', PACKAGE]);
  for (const path of stdout.split('\n').filter((line) => line.startsWith('/'))) {
    const stat = await ifThere(lstat(path));
    if (stat === null || stat.isDirectory()) continue;
    const to = join(tree, path);
    await mkdir(dirname(to), { recursive: true, mode: 0o755 });
    await linkOrCopy(path, to, stat.isSymbolicLink());
  }
}

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
export async function rebuildPackage(tree: string, file: string): Promise<void> {
  const control = join(tree, 'DEBIAN');
  await mkdir(control, { recursive: true, mode: 0o755 });
  const { stdout: status } = await runCommand('dpkg-query', ['--status', PACKAGE]);
  await writeFile(join(control, 'control'), `${status.replace(STATUS, '').trimEnd()}\n`);
  for (const name of CONTROL) {
    const from = join(DATABASE, `${PACKAGE}.${name}`);
    if ((await ifThere(readFile(from))) === null) continue;
    await copyFile(from, join(control, name));
    await chmod(join(control, name), (await lstat(from)).mode);
  }
  const unfinished = `${file}.part`;
  // Fast rather than small: it is needed for minutes.
  const words = ['--root-owner-group', '-Zzstd', '-z1', '--build', tree, unfinished];
  await runCommand('dpkg-deb', words, { timeoutMs: SLOW_MS });
  await rm(control, { recursive: true });
  await runCommand('mv', ['--force', unfinished, file]);
}
