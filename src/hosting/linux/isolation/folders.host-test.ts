import { randomUUID } from 'node:crypto';
import { chmod, chown, lstat, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommand } from '../../../lib/run-command.ts';
import { PermanentHostError } from '../../contract/errors.ts';
import { type LinuxLayout, linuxLayout } from '../machine/layout.ts';
import { checkHome, makeHome, removeHome } from './folders.ts';
import { type SandboxedInstall, sandboxEtcOf } from './sandbox.ts';

const UID = 391_100;
const OTHER_UID = 391_101;

let layout: LinuxLayout;

beforeAll(async () => {
  layout = linuxLayout(await mkdtemp('/srv/hpt-folders-'), await mkdtemp('/run/hpt-folders-'));
  for (const folder of [layout.folder, layout.runFolder]) await chmod(folder, 0o711);
});
afterAll(async () => {
  for (const folder of [layout.folder, layout.runFolder]) await rm(folder, { recursive: true, force: true });
});

function newInstall(uid = UID): SandboxedInstall {
  const php = { version: '8.2', root: '/', fpm: '', cli: '', modules: [], fault: null };
  return { id: randomUUID(), name: 'shop', uid, gid: uid, php, wordpressVersion: '6.8.7' };
}

async function madeInstall(uid = UID): Promise<SandboxedInstall> {
  const install = newInstall(uid);
  await makeHome(layout, install);
  return install;
}

/** Whether the user can do it; `what` is an expression for test(1). */
async function can(uid: number | 'www-data', ...what: string[]): Promise<boolean> {
  const gid = uid === 'www-data' ? 'www-data' : `${uid}`;
  const user = [`--reuid=${uid}`, `--regid=${gid}`, '--clear-groups'];
  return runCommand('/usr/bin/setpriv', [...user, '/usr/bin/test', ...what]).then(
    () => true,
    () => false,
  );
}

describe('an install’s folders', () => {
  it('belong to the install, and the web server can pass through to public files', async () => {
    const { id } = await madeInstall();
    const [home, htdocs, hidden] = [layout.homeOf(id), layout.htdocsOf(id), layout.privateOf(id)];
    expect(await can(UID, '-r', home)).toBe(true);
    expect(await can(UID, '-w', home)).toBe(false);
    expect(await can(UID, '-w', htdocs)).toBe(true);
    expect(await can(UID, '-w', hidden)).toBe(true);
    expect(await can('www-data', '-r', htdocs)).toBe(true);
    expect(await can('www-data', '-w', htdocs)).toBe(false);
    expect(await can('www-data', '-r', home)).toBe(false);
    expect(await can('www-data', '-x', hidden)).toBe(false);
    expect(await can('www-data', '-x', layout.runOf(id))).toBe(true);
    expect(await can('www-data', '-x', layout.redisRunOf(id))).toBe(false);
    for (const path of [htdocs, hidden, layout.runOf(id), layout.installs]) {
      expect(await can(OTHER_UID, '-r', path), path).toBe(false);
    }
    expect(await can(OTHER_UID, '-x', home)).toBe(false);
  });

  it('are ensured again without touching what is right, or their contents', async () => {
    const install = await madeInstall();
    const file = join(layout.htdocsOf(install.id), 'index.html');
    await writeFile(file, 'mine');
    await chmod(file, 0o640);
    const before = (await lstat(layout.homeOf(install.id))).ctimeMs;
    await makeHome(layout, install);
    expect((await lstat(layout.homeOf(install.id))).ctimeMs).toBe(before);
    expect((await lstat(file)).mode & 0o777).toBe(0o640);
  });

  it('are checked and repaired', async () => {
    const install = await madeInstall();
    const { id } = install;
    expect(await checkHome(layout, install)).toEqual([]);
    await chown(layout.htdocsOf(id), OTHER_UID, OTHER_UID);
    await chmod(layout.privateOf(id), 0o777);
    await rm(layout.redisRunOf(id), { recursive: true });
    await runCommand('/usr/bin/setfacl', ['-m', `u:${OTHER_UID}:rwx`, layout.homeOf(id)]);
    await rm(join(sandboxEtcOf(layout, id), 'passwd'));
    expect(await checkHome(layout, install)).toEqual([
      `${layout.homeOf(id)} has the wrong access list`,
      `${layout.htdocsOf(id)} belongs to ${OTHER_UID}:${OTHER_UID} instead of ${UID}:${UID}`,
      `${layout.privateOf(id)} has mode 777 instead of 700`,
      `${layout.redisRunOf(id)} is missing`,
      `${join(sandboxEtcOf(layout, id), 'passwd')} has the wrong content`,
    ]);
    await makeHome(layout, install);
    expect(await checkHome(layout, install)).toEqual([]);
  });

  it('are restored after a restart of the machine empties the run folder', async () => {
    const install = await madeInstall();
    for (const name of await readdir(layout.runFolder)) {
      await rm(join(layout.runFolder, name), { recursive: true });
    }
    expect(await checkHome(layout, install)).not.toEqual([]);
    await makeHome(layout, install);
    expect(await checkHome(layout, install)).toEqual([]);
  });

  it('are never created through a link', async () => {
    const install = newInstall();
    const victim = join(layout.folder, 'victim');
    await mkdir(victim, { mode: 0o700 });
    await symlink(victim, layout.homeOf(install.id));
    await expect(makeHome(layout, install)).rejects.toThrow(PermanentHostError);
    expect((await lstat(victim)).uid).toBe(0);
    expect(await readdir(victim)).toEqual([]);
    expect(await checkHome(layout, install)).toContain(`${layout.homeOf(install.id)} is not a folder`);
  });
});

describe('removing a home', () => {
  it('leaves nothing behind, and can be repeated', async () => {
    const { id } = await madeInstall();
    const other = await madeInstall(OTHER_UID);
    await removeHome(layout, id);
    await removeHome(layout, id);
    const { stdout } = await runCommand('/usr/bin/find', [
      layout.folder,
      layout.runFolder,
      '-name',
      `*${id}*`,
    ]);
    expect(stdout).toBe('');
    expect(await checkHome(layout, other)).toEqual([]);
  });

  it('follows no link, and deletes any depth and protected folders', async () => {
    const { id } = await madeInstall();
    const precious = join(layout.folder, 'precious');
    await mkdir(precious);
    await writeFile(join(precious, 'file'), 'kept');
    await symlink(precious, join(layout.htdocsOf(id), 'link'));
    const user = [`--reuid=${UID}`, `--regid=${UID}`, '--clear-groups'];
    // Deeper than the longest path (PATH_MAX is 4,096).
    const dig = 'chdir $ARGV[0]; for (1..300) { mkdir "d" x 200; chdir "d" x 200 or die } mkdir "locked", 0';
    await runCommand('/usr/bin/setpriv', [...user, '/usr/bin/perl', '-e', dig, layout.htdocsOf(id)]);
    await removeHome(layout, id);
    expect(await readdir(precious)).toEqual(['file']);
    expect(await readdir(layout.scratch)).toEqual([]);
  });

  it('completes an interrupted removal', async () => {
    const { id } = await madeInstall();
    await mkdir(join(layout.scratch, `removed-home-${id}`, 'half'), { recursive: true });
    await removeHome(layout, id);
    expect(await readdir(layout.scratch)).toEqual([]);
  });
});
