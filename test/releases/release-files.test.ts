import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { WATCHED } from '../../src/cli/host/upgrade/packages.ts';
import { buildArtifacts } from '../../tools/release/artifacts.ts';
import { makeDebianPackage } from '../../tools/release/debian.ts';
import { OLDEST_GLIBC } from '../../tools/release/oldest-glibc.ts';
import { run } from '../../tools/release/run.ts';
import { settleFiles } from '../../tools/release/settled-files.ts';
import { copyBuiltProgram, writeLauncher } from '../../tools/release/stage.ts';
import { temporaryFolder } from '../database.ts';

const ROOT = join(import.meta.dirname, '../..');
const COMMIT_TIME = 1_790_000_000;
const DEBCONF = '/usr/share/debconf/confmodule';
const QUESTION = 'homeport/delete-websites';

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder.remove());

function write(path: string, text = '', mode = 0o600): string {
  const file = join(folder.path, path);
  mkdirSync(join(file, '..'), { recursive: true, mode: 0o700 });
  writeFileSync(file, text);
  chmodSync(file, mode);
  return file;
}

const modeOf = (path: string) => (statSync(join(folder.path, path)).mode & 0o777).toString(8);

it('publishes files that all users can read, of one time, whatever the umask of the builder was', () => {
  write('stage/package.json', '{}', 0o660);
  write('stage/bin/node', '', 0o700);
  symlinkSync('/missing', join(folder.path, 'stage/link'));
  settleFiles(join(folder.path, 'stage'), COMMIT_TIME);
  expect(['stage', 'stage/bin', 'stage/bin/node', 'stage/package.json'].map(modeOf)).toEqual([
    '755',
    '755',
    '755',
    '644',
  ]);
  for (const path of ['stage', 'stage/bin', 'stage/package.json']) {
    expect(statSync(join(folder.path, path)).mtimeMs).toBe(COMMIT_TIME * 1_000);
  }
});

it('has a command that runs its own Node, from any folder and by a link', () => {
  const node = `stage/node_modules/node-${process.platform}-${process.arch}/bin/node`;
  write(node, '#!/bin/sh\necho "$@"\n', 0o755);
  writeLauncher(join(folder.path, 'stage'));
  const link = join(folder.path, 'link');
  symlinkSync('stage/homeport', link);
  for (const command of [join(folder.path, 'stage/homeport'), link]) {
    const printed = execFileSync(command, ['install', 'create', 'a b'], { cwd: '/', encoding: 'utf8' });
    expect(printed).toBe(`${join(folder.path, 'stage/bin/homeport.mjs')} install create a b\n`);
  }
});

it('publishes the current program, under the name that each build has', async () => {
  const programs = 'node_modules/.cache/homeport/programs';
  write(`clone/${programs}/build-a1b2c3/main.mjs`, 'current');
  write(`clone/${programs}/build-former/main.mjs`, 'former');
  write(
    `clone/${programs}/current.json`,
    JSON.stringify({ folder: 'build-a1b2c3', files: [['src/main.ts', 1, 2]], libraries: {} }),
  );
  await copyBuiltProgram(join(folder.path, 'clone'), join(folder.path, 'stage'));
  const staged = join(folder.path, 'stage', programs);
  expect(readdirSync(staged).sort()).toEqual(['current.json', 'release']);
  expect(readFileSync(join(staged, 'release/main.mjs'), 'utf8')).toBe('current');
  // Found by the program itself, as in a release.
  mkdirSync(join(folder.path, 'stage/bin'));
  copyFileSync(join(ROOT, 'bin/built-program.ts'), join(folder.path, 'stage/bin/built-program.ts'));
  write('stage/release.json', '{}');
  const { findBuiltProgram }: typeof import('../../bin/built-program.ts') = await import(
    join(folder.path, 'stage/bin/built-program.ts')
  );
  expect(findBuiltProgram()).toBe(join(staged, 'release/main.mjs'));
});

it('builds artifacts into no folder with other files, before anything else', async () => {
  write('releases/other', 'kept');
  const building = buildArtifacts(join(folder.path, 'missing'), 'HEAD', join(folder.path, 'releases'));
  await expect(building).rejects.toThrow('has other files');
  expect(readFileSync(join(folder.path, 'releases/other'), 'utf8')).toBe('kept');
});

/** A package of one file, built with a umask that hides files from others. */
async function smallPackage(): Promise<string> {
  write('stage/bin/homeport.mjs', '// small');
  write('stage/src/database/migrations/0001-first.ts');
  mkdirSync(join(folder.path, 'dist'));
  const umask = process.umask(0o077);
  try {
    const places = { stage: join(folder.path, 'stage'), work: folder.path, dist: join(folder.path, 'dist') };
    return await makeDebianPackage({ ...places, version: '0.4.0-dev', commitTime: COMMIT_TIME }, run);
  } finally {
    process.umask(umask);
  }
}

it('requires the C library that its native modules need', () => {
  const modules = globSync(join(ROOT, 'node_modules/{better-sqlite3,@node-rs/*}/**/*.node')).filter(
    (file) => file.includes(`linux-${process.arch}`) && !file.includes('musl'),
  );
  const needed = modules.flatMap((file) =>
    [...readFileSync(file, 'latin1').matchAll(/\bGLIBC_2\.(\d+)/g)].map(([, minor]) => Number(minor)),
  );
  expect(`2.${Math.max(...needed)}`).toBe(OLDEST_GLIBC);
  expect(readFileSync(join(ROOT, 'docs/install.md'), 'utf8')).toContain(`glibc ${OLDEST_GLIBC} or newer`);
});

const hasDpkg = existsSync('/usr/bin/dpkg-deb');

it.skipIf(!hasDpkg)(
  'makes a Debian package whose files all users can read and only root can change',
  async () => {
    const file = await smallPackage();
    const listed = execFileSync('dpkg-deb', ['--contents', file], { encoding: 'utf8' }).trimEnd().split('\n');
    expect(
      listed.map((line) =>
        line
          .split(/ +/)
          .filter((_, at) => [0, 1, 5].includes(at))
          .join(' '),
      ),
    ).toEqual([
      'drwxr-xr-x root/root ./',
      'drwxr-xr-x root/root ./usr/',
      'drwxr-xr-x root/root ./usr/bin/',
      'drwxr-xr-x root/root ./usr/lib/',
      'drwxr-xr-x root/root ./usr/lib/homeport/',
      'drwxr-xr-x root/root ./usr/lib/homeport/bin/',
      '-rw-r--r-- root/root ./usr/lib/homeport/bin/homeport.mjs',
      'drwxr-xr-x root/root ./usr/lib/homeport/src/',
      'drwxr-xr-x root/root ./usr/lib/homeport/src/database/',
      'drwxr-xr-x root/root ./usr/lib/homeport/src/database/migrations/',
      '-rw-r--r-- root/root ./usr/lib/homeport/src/database/migrations/0001-first.ts',
      'drwxr-xr-x root/root ./usr/share/',
      'drwxr-xr-x root/root ./usr/share/doc/',
      'drwxr-xr-x root/root ./usr/share/doc/homeport/',
      '-rw-r--r-- root/root ./usr/share/doc/homeport/changelog.gz',
      '-rw-r--r-- root/root ./usr/share/doc/homeport/copyright',
      'drwxr-xr-x root/root ./usr/share/lintian/',
      'drwxr-xr-x root/root ./usr/share/lintian/overrides/',
      '-rw-r--r-- root/root ./usr/share/lintian/overrides/homeport',
      'drwxr-xr-x root/root ./usr/share/man/',
      'drwxr-xr-x root/root ./usr/share/man/man1/',
      '-rw-r--r-- root/root ./usr/share/man/man1/homeport.1.gz',
      // dpkg-deb puts links last.
      'lrwxrwxrwx root/root ./usr/bin/homeport',
    ]);
  },
);

/** Runs a script of the package below a folder in place of `/`. Returns the commands that it gave systemd, and its messages. */
function maintained(
  root: string,
  info: string,
  name: string,
  action: string,
  environment: Record<string, string> = {},
) {
  const script = join(info, `${name}.sh`);
  const text = readFileSync(join(info, name), 'utf8');
  writeFileSync(script, text.replaceAll(/(?<= |^)\/(?=(etc|run|usr|var)\/)/gm, `${root}/`));
  const log = join(folder.path, `${name}.log`);
  const systemctl = write('bin/systemctl', `#!/bin/sh\necho "$1" >>${log}\n`, 0o755);
  const { status, stderr } = spawnSync('/bin/sh', [script, action], {
    env: { PATH: `${join(systemctl, '..')}:/usr/bin:/bin`, ...environment },
    encoding: 'utf8',
  });
  expect(status, stderr).toBe(0);
  return { commands: existsSync(log) ? readFileSync(log, 'utf8').trimEnd().split('\n') : [], stderr };
}

const maintain = (...given: Parameters<typeof maintained>) => maintained(...given).commands;

it.skipIf(!hasDpkg).each([
  ['its own', '/usr/lib/homeport', ['stop'], []],
  ['those of a clone', '/opt/homeport', [], ['homeport-host.service', 'homeport.service']],
])('stops and removes services: %s', async (_whose, program, stopped, left) => {
  const info = join(folder.path, 'info');
  const root = join(folder.path, 'root');
  execFileSync('dpkg-deb', ['--control', await smallPackage(), info]);
  const where = program === '/opt/homeport' ? program : `${root}${program}`;
  mkdirSync(join(root, 'run/systemd/system'), { recursive: true });
  for (const unit of ['homeport.service', 'homeport-host.service']) {
    write(`root/etc/systemd/system/${unit}`, `[Service]\nExecStart=node ${where}/bin/homeport.mjs\n`);
  }
  write('root/var/lib/homeport/homeport.sqlite');
  write('root/usr/lib/homeport/node_modules/.cache/compiled');
  expect(maintain(root, info, 'prerm', 'remove')).toEqual(stopped);
  maintain(root, info, 'postrm', 'remove');
  expect(readdirSync(join(root, 'etc/systemd/system')).sort()).toEqual(left);
  expect(existsSync(join(root, 'usr/lib/homeport'))).toBe(false);
  // Without debconf, the operator is not asked.
  maintain(root, info, 'postrm', 'purge');
  expect(existsSync(join(root, 'var/lib/homeport/homeport.sqlite'))).toBe(true);
});

it.skipIf(!hasDpkg)('restarts services after an upgrade, and waits unless someone else watches', async () => {
  const info = join(folder.path, 'info');
  const root = join(folder.path, 'root');
  execFileSync('dpkg-deb', ['--control', await smallPackage(), info]);
  mkdirSync(join(root, 'run/systemd/system'), { recursive: true });
  write(
    'root/etc/systemd/system/homeport.service',
    `ExecStart=node ${root}/usr/lib/homeport/bin/homeport.mjs\n`,
  );
  write('root/usr/lib/homeport/homeport', '#!/bin/sh\necho "$*" >&2\n', 0o755);
  const ofSetUp = (environment?: Record<string, string>) =>
    maintained(root, info, 'postinst', 'configure', environment).stderr;
  expect(ofSetUp()).toBe('host setup --services\n');
  expect(ofSetUp({ [WATCHED]: 'yes' })).toBe('host setup --services --no-wait\n');
});

/** In place of debconf's: answers "yes" to every question. */
const YES = ['input', 'go', 'purge', 'stop'].map((name) => `db_${name}() { :; }\n`).join('');

it.skipIf(!hasDpkg)('deletes what the operator means, and nothing of others', async () => {
  const info = join(folder.path, 'info');
  const root = join(folder.path, 'root');
  execFileSync('dpkg-deb', ['--control', await smallPackage(), info]);
  write('root/usr/share/debconf/confmodule', `${YES}db_get() { RET=true; }\n`);
  write('root/var/lib/homeport/homeport.sqlite');
  write('root/etc/homeport/homeport.conf');
  write('large disk/installs/shop');
  symlinkSync(join(folder.path, 'large disk'), join(root, 'var/lib/homeport-host'));
  write('root/var/lib/homeport-upgrade/state.json');
  write('root/var/backups/homeport/homeport-backup');
  const unit = write(
    'root/etc/systemd/system/homeport.service',
    'ExecStart=node /opt/homeport/bin/homeport.mjs\n',
  );
  maintain(root, info, 'postrm', 'purge');
  // A clone has services, which use these folders.
  expect(existsSync(join(root, 'var/lib/homeport/homeport.sqlite'))).toBe(true);
  rmSync(unit);
  const { stderr } = maintained(root, info, 'postrm', 'purge');
  // "homeport upgrade" makes backups there, if no other place is configured.
  expect(stderr).toContain(`Kept, because it is elsewhere: ${root}/var/backups/homeport\n`);
  expect(existsSync(join(root, 'var/backups/homeport/homeport-backup'))).toBe(true);
  expect(readdirSync(join(root, 'var/lib'))).toEqual([]);
  expect(existsSync(join(root, 'etc/homeport'))).toBe(false);
  expect(existsSync(join(folder.path, 'large disk/installs/shop'))).toBe(true);
});

it.skipIf(!hasDpkg)('leaves the data of a server that was started in the folder of the program', async () => {
  const info = join(folder.path, 'info');
  const root = join(folder.path, 'root');
  execFileSync('dpkg-deb', ['--control', await smallPackage(), info]);
  write('root/usr/lib/homeport/data/homeport.sqlite');
  write('root/usr/lib/homeport/node_modules/.cache/homeport/compiled');
  maintain(root, info, 'postrm', 'remove');
  expect(readdirSync(join(root, 'usr/lib/homeport'))).toEqual(['data']);
});

it.skipIf(!hasDpkg || !existsSync(DEBCONF))(
  'knows the question of "purge" once it is installed, because dpkg deletes its file before',
  async () => {
    const info = join(folder.path, 'info');
    execFileSync('dpkg-deb', ['--control', await smallPackage(), info]);
    for (const name of readdirSync(info)) copyFileSync(join(info, name), join(info, `homeport.${name}`));
    // In place of the machine's own.
    const settings = write(
      'debconf.conf',
      `Config: config\nTemplates: templates\n\n${['config', 'templates']
        .map((name) => `Name: ${name}\nDriver: File\nFilename: ${join(folder.path, name)}.dat\n`)
        .join('\n')}`,
    );
    // A machine with systemd must restart nothing.
    write('bin/systemctl', '#!/bin/sh\nexit 1\n', 0o755);
    const configured = spawnSync(join(info, 'homeport.postinst'), ['configure'], {
      env: {
        PATH: `${join(folder.path, 'bin')}:/usr/sbin:/usr/bin:/sbin:/bin`,
        DEBIAN_FRONTEND: 'noninteractive',
        DEBCONF_SYSTEMRC: settings,
      },
      encoding: 'utf8',
    });
    expect(configured).toMatchObject({ status: 0 });
    expect(readFileSync(join(folder.path, 'templates.dat'), 'utf8')).toContain(`Name: ${QUESTION}\n`);
    expect(readFileSync(join(folder.path, 'config.dat'), 'utf8')).toContain(`Name: ${QUESTION}\n`);
  },
);

it('keeps the data of releases out of the checks of style', () => {
  const record = write('test/releases/0.4.0/sqlite/record.json', '{"answers":   {}}', 0o644);
  copyFileSync(join(ROOT, 'biome.json'), join(folder.path, 'biome.json'));
  const biome = join(ROOT, 'node_modules/.bin/biome');
  const check = () =>
    spawnSync(process.execPath, [biome, 'check', '--vcs-enabled=false', '--no-errors-on-unmatched', '.'], {
      cwd: folder.path,
      encoding: 'utf8',
    });
  expect(check()).toMatchObject({ status: 0 });
  // The files beside it are checked.
  copyFileSync(record, join(folder.path, 'test/releases/migrations.json'));
  expect(check().status).not.toBe(0);
});
