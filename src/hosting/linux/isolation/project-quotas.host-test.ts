import { randomUUID } from 'node:crypto';
import {
  chmod,
  lchown,
  link,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readlink,
  rename,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, describe, expect, it } from 'vitest';
import { runCommand, succeeds } from '../../../lib/run-command.ts';
import { createWebsiteReplacement } from '../backups/website-replacement.ts';
import type { Databases } from '../daemons/databases.ts';
import { type LinuxLayout, linuxLayout } from '../machine/layout.ts';
import { findPhpRuntimes } from '../machine/php-runtimes.ts';
import { makeHome, removeHome } from './folders.ts';
import { createProjectQuotas } from './project-quotas.ts';
import { type SandboxedInstall, sandboxCommand } from './sandbox.ts';

const UID = 391_900;
const MIB = 1024 ** 2;
const LIMITS = { bytes: 8 * MIB, files: 60 };
/** XFS calls it a full disk. */
const FULL = /Only \d+ of \d+ bytes written|Disk quota exceeded|No space left on device/;
const log = pino({ level: 'silent' });

/** File systems that can have project quotas, if this kernel supports those. Many kernels of containers and small machines do not. */
const KINDS = {
  // Without the mount option: the host turns limits on.
  ext4: {
    make: ['mkfs.ext4', '-q', '-F', '-O', 'project,quota', '-E', 'quotatype=prjquota'],
    options: 'loop',
  },
  xfs: { make: ['mkfs.xfs', '-q', '-f'], options: 'loop,prjquota' },
};
const scratch = await mkdtemp('/srv/hpt-quota-');
await chmod(scratch, 0o711);
const mounted: string[] = [];
/** File systems whose files have projects, even if this kernel cannot count them. */
const projected: string[] = [];
for (const [kind, { make, options }] of Object.entries(KINDS)) {
  const [program = '', ...given] = make;
  const image = join(scratch, `${kind}.img`);
  await writeFile(image, '');
  await runCommand('/usr/bin/truncate', ['--size=400M', image]);
  const point = join(scratch, kind);
  await mkdir(point);
  if (!(await succeeds(program, [...given, image]))) continue;
  const mount = (wanted: string) => succeeds('mount', ['-t', kind, '-o', wanted, image, point]);
  if (await mount(options)) mounted.push(kind);
  else if (!(await mount('loop'))) continue;
  projected.push(kind);
}

afterAll(async () => {
  for (const kind of projected) await runCommand('umount', ['--lazy', join(scratch, kind)]);
  await rm(scratch, { recursive: true, force: true });
});

async function machineOn(kind: string) {
  const folder = join(scratch, kind);
  await chmod(folder, 0o711);
  const runFolder = await mkdtemp('/run/hpt-quota-');
  await chmod(runFolder, 0o711);
  const layout = linuxLayout(folder, runFolder, LIMITS);
  await mkdir(layout.coreOf('6.8.7'), { recursive: true });
  await mkdir(layout.mariadbRun, { recursive: true });
  const [php] = await findPhpRuntimes(layout);
  if (!php) throw new Error('this machine has no PHP');
  const install = { id: randomUUID(), name: 'shop', uid: UID, gid: UID, php, wordpressVersion: '6.8.7' };
  return { layout, install, quotas: createProjectQuotas({ layout, log }) };
}

/** What PHP of the website says and does. */
async function php(layout: LinuxLayout, install: SandboxedInstall, code: string): Promise<string> {
  const command = ['/run/homeport/bin/php', '-d', 'display_errors=1', '-r', code] as const;
  const [program, ...args] = sandboxCommand(layout, install, [...command], {
    folder: layout.htdocsOf(install.id),
  });
  return (await runCommand(program, args)).stdout;
}

const write = (name: string, mib: number) =>
  `echo @file_put_contents('${name}', str_repeat('x', ${mib * MIB})) === ${mib * MIB} ? 'written' : error_get_last()['message'];`;

describe.each(mounted)('project quotas of %s', (kind) => {
  it('limit the files of a website and of everything that replaces them', async () => {
    const { layout, install, quotas } = await machineOn(kind);
    const home = layout.homeOf(install.id);
    const usage = async () => (await quotas.usage([home]))[0];
    expect(await quotas.state()).toBe('enforced');
    expect(await quotas.advice()).toBeNull();

    // A website from before project quotas were on.
    await makeHome(layout, install);
    await writeFile(join(home, 'htdocs', 'old.txt'), 'x'.repeat(2 * MIB));
    await lchown(join(home, 'htdocs', 'old.txt'), UID, UID);
    await writeFile(join(home, 'logs', 'access.log'), 'x'.repeat(MIB));
    expect(await usage()).toBeNull();
    await quotas.ensure(home, UID);
    expect((await usage())?.bytes).toBeGreaterThanOrEqual(2 * MIB);
    expect((await usage())?.bytes).toBeLessThan(3 * MIB);

    expect(await php(layout, install, write('a.bin', 3))).toBe('written');
    expect(await php(layout, install, write('b.bin', 4))).toMatch(FULL);
    expect(await php(layout, install, `unlink('b.bin'); ${write('b.bin', 2)}`)).toBe('written');
    const many = `for ($i = 0; @touch("n$i"); $i++); echo $i < 60 ? error_get_last()['message'] : $i; array_map('unlink', glob('n*'));`;
    expect(await php(layout, install, many)).toMatch(FULL);

    // The website cannot leave its project.
    const leave = sandboxCommand(layout, install, [
      '/usr/bin/chattr',
      '-p',
      '0',
      join(home, 'htdocs', 'a.bin'),
    ]);
    expect(await succeeds(leave[0], leave.slice(1))).toBe(false);

    // Logs of the host are not counted.
    const before = (await usage())?.bytes;
    await writeFile(join(home, 'logs', 'php.log'), 'x'.repeat(3 * MIB));
    expect((await usage())?.bytes).toBe(before);

    // A restore has both websites for a while, even one that is over the limit afterwards.
    const databases: Pick<Databases, 'drop'> = { drop: async () => {} };
    const replacement = createWebsiteReplacement(databases as Databases, quotas);
    const target = {
      database: 'hp_shop',
      unixUser: 'shop',
      parts: { files: true, database: 'none' as const },
    };
    await replacement.prepare(home, target, install);
    const restored = join(home, '.restore', 'htdocs');
    for (const name of ['one.bin', 'two.bin']) {
      expect(await php(layout, install, write(join(restored, name), 6))).toBe('written');
    }
    await replacement.replace(home, target);
    expect((await usage())?.bytes).toBeGreaterThanOrEqual(12 * MIB);
    expect((await usage())?.bytes).toBeLessThan(13 * MIB);
    expect(await php(layout, install, "echo filesize('one.bin');")).toBe(String(6 * MIB));
    expect(await php(layout, install, write('c.bin', 1))).toMatch(FULL);

    // A higher limit counts from the next start of the host on; the website itself can free space at once.
    const larger = linuxLayout(layout.folder, layout.runFolder, { bytes: 16 * MIB, files: null });
    await createProjectQuotas({ layout: larger, log }).ensure(home, UID);
    expect(await php(layout, install, `@unlink('c.bin'); ${write('c.bin', 1)}`)).toBe('written');
    await quotas.ensure(home, UID);
    expect(await php(layout, install, `unlink('c.bin'); ${write('c.bin', 1)}`)).toMatch(FULL);
    expect(await php(layout, install, `unlink('one.bin'); ${write('c.bin', 1)}`)).toBe('written');

    await quotas.release(home);
    await removeHome(layout, install.id);
    await expect(lstat(home)).rejects.toThrow('ENOENT');
    const [dead] = await quotas.usage([home]);
    expect(dead).toBeNull();
    await rm(layout.runFolder, { recursive: true, force: true });
  });
});

it.each(projected)('give links of a website to its project, on %s', async (kind) => {
  const home = join(scratch, kind, 'with-links');
  const [htdocs, deep] = [join(home, 'htdocs'), join(home, 'htdocs', 'deep')];
  for (const folder of [deep, join(home, 'logs')]) await mkdir(folder, { recursive: true });
  const program = join(import.meta.dirname, 'perl', 'project-quota.pl');
  const assign = (project: number) =>
    runCommand('/usr/bin/perl', [program, 'assign', home, String(project), '0', '0', 'logs']).catch(
      (error: unknown) => {
        // The last step, which needs a kernel that counts.
        if (!mounted.includes(kind) && /cannot set the limits/.test(String(error))) return;
        throw error;
      },
    );
  // Of another project, because new kernels let links without any pass.
  await assign(UID + 1);
  await symlink('../there', join(deep, 'link'));
  await symlink('htdocs', join(home, 'top'));
  await lchown(join(deep, 'link'), UID, UID);
  await assign(UID);
  // As restores keep what they replace, and put it back.
  await link(join(deep, 'link'), join(htdocs, 'kept'));
  await rename(join(deep, 'link'), join(htdocs, 'moved'));
  await rename(join(home, 'top'), join(htdocs, 'top'));
  expect(await readlink(join(htdocs, 'kept'))).toBe('../there');
  expect(await readlink(join(htdocs, 'top'))).toBe('htdocs');
  expect((await lstat(join(htdocs, 'moved'))).uid).toBe(UID);
  expect((await readdir(home)).sort()).toEqual(['htdocs', 'logs']);
  await rm(home, { recursive: true });
});

it('leave websites as they are on a file system without them', async () => {
  const layout = linuxLayout(scratch, scratch, LIMITS);
  const quotas = createProjectQuotas({ layout, log });
  expect(await quotas.state()).toBe('off');
  await quotas.ensure(scratch, UID);
  await quotas.suspend(scratch);
  expect(await quotas.usage([scratch])).toEqual([null]);
});
