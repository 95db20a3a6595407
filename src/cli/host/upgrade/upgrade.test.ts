import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { temporaryFolder } from '../../../../test/database.ts';
import { has } from '../../../../test/missing-programs.ts';
import { OperatorError } from '../../../lib/operator-error.ts';
import { configurePackage, finishInterrupted, installedVersion, runDpkg } from './dpkg.ts';
import { NEEDS_OPERATOR, orNeedsOperator } from './finish.ts';
import { packageOfFile } from './offered-package.ts';
import { otherInstallation } from './other-installations.ts';
import { isNewer, packageIn, requireWhole, WATCHED } from './packages.ts';
import { isNewStart, keepsFailing } from './readiness.ts';
import { missingRoom } from './room.ts';
import { requireSameServices, servingUnits } from './serving-units.ts';
import { aloneUpgrading, courseOf } from './state.ts';
import { run } from './surviving-terminal.ts';

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder.remove());

/** A package with a name and a version, in a folder of its own. `postinst`: a script of the package. */
function packageFile(name = 'homeport', version = '0.4.0', postinst?: string): string {
  const tree = join(folder.path, 'tree');
  mkdirSync(join(tree, 'DEBIAN'), { recursive: true, mode: 0o755 });
  const control = `Package: ${name}\nVersion: ${version}\nArchitecture: amd64\nMaintainer: A <a@b.invalid>\nInstalled-Size: 7\nHomeport-Schema: 0070-later\nDescription: d\n`;
  writeFileSync(join(tree, 'DEBIAN/control'), control);
  if (postinst !== undefined) writeFileSync(join(tree, 'DEBIAN/postinst'), postinst, { mode: 0o755 });
  const file = join(folder.path, 'offer', `${name}_${version}_amd64.deb`);
  mkdirSync(join(file, '..'), { recursive: true });
  execFileSync('dpkg-deb', ['--root-owner-group', '--build', tree, file], { stdio: 'ignore' });
  return file;
}

/** Signs the checksum of a file beside it, and lets the program in `root` accept the key. */
function sign(file: string): string {
  const root = join(folder.path, 'program');
  mkdirSync(root);
  const key = join(folder.path, 'key');
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key]);
  const accepted = readFileSync(`${key}.pub`, 'utf8').split(' ').slice(0, 2).join(' ');
  writeFileSync(
    join(root, 'release-signers'),
    `homeport-release namespaces="homeport-release" ${accepted}\n`,
  );
  const sums = join(file, '..', 'SHA256SUMS');
  const hash = createHash('sha256').update(readFileSync(file)).digest('hex');
  writeFileSync(sums, `${hash}  ${file.split('/').at(-1)}\n`);
  execFileSync('ssh-keygen', ['-Y', 'sign', '-q', '-f', key, '-n', 'homeport-release', sums]);
  return root;
}

const offered = (file: string, root = folder.path, requireRoomFor = async (_bytes: number) => {}) =>
  packageOfFile(file, { folder: join(folder.path, 'copies'), root, requireRoomFor });

it('reads what a package becomes, and takes a file without checksums as it is', async () => {
  const { facts, verified } = await offered(packageFile());
  expect(facts).toEqual({
    version: '0.4.0',
    architecture: 'amd64',
    schema: '0070-later',
    installedBytes: 7 * 1024,
  });
  expect(verified).toBe('not verified, because no SHA256SUMS is beside it');
});

it.skipIf(!has('ssh-keygen'))(
  'accepts signed checksums, and refuses a changed list and a changed file',
  async () => {
    const file = packageFile();
    const root = sign(file);
    expect((await offered(file, root)).verified).toBe('signature and checksum are right');
    appendFileSync(file, 'x');
    await expect(offered(file, root)).rejects.toThrow('The checksum of');
    appendFileSync(join(file, '..', 'SHA256SUMS'), 'x\n');
    await expect(offered(file, root)).rejects.toThrow('The signature of');
    rmSync(join(root, 'release-signers'));
    await expect(offered(file, root)).rejects.toThrow('has no keys of releases');
  },
);

it.skipIf(!has('ssh-keygen'))('verifies and installs a copy that no one else can change', async () => {
  const given = packageFile();
  const root = sign(given);
  for (const name of ['SHA256SUMS', 'SHA256SUMS.sig']) chmodSync(join(given, '..', name), 0o666);
  chmodSync(given, 0o666);
  const { file } = await offered(given, root);
  const copies = join(folder.path, 'copies');
  for (const copy of [file, join(copies, 'SHA256SUMS'), join(copies, 'SHA256SUMS.sig')])
    expect(statSync(copy).mode & 0o777).toBe(0o644);
});

it('refuses what is no package of Homeport', async () => {
  await expect(offered(packageFile('other'))).rejects.toThrow('is no package of Homeport');
  await expect(offered(join(folder.path, 'missing.deb'))).rejects.toThrow('is no package of Homeport');
  expect(await packageIn(import.meta.filename)).toBeNull();
});

it('asks for the room of a package before it copies it', async () => {
  const file = packageFile();
  const refused = offered(file, folder.path, async (bytes) => {
    throw new OperatorError(`no room for ${bytes}`);
  });
  await expect(refused).rejects.toThrow(`no room for ${statSync(file).size}`);
  expect(existsSync(join(folder.path, 'copies'))).toBe(false);
});

it.each([
  ['half-installed', 'dpkg --install FILE'],
  ['half-configured', 'dpkg --configure --pending'],
  ['unpacked', 'dpkg --configure --pending'],
])('keeps no package for a return that is %s', async (status, remedy) => {
  const write = (present: string) =>
    writeFileSync(
      join(folder.path, 'status'),
      `Package: homeport\nStatus: install ok ${present}\nMaintainer: a\nArchitecture: amd64\nVersion: 1\nDescription: a\n`,
    );
  write(status);
  await expect(requireWhole({ DPKG_ADMINDIR: folder.path })).rejects.toThrow(remedy);
  write('installed');
  await requireWhole({ DPKG_ADMINDIR: folder.path });
});

/** Variables by which dpkg installs into a folder. `status`: its database. */
function dpkgElsewhere(status = ''): Record<string, string> {
  const admin = join(folder.path, 'admin');
  const root = join(folder.path, 'root');
  for (const made of ['updates', 'info']) mkdirSync(join(admin, made), { recursive: true });
  mkdirSync(root);
  writeFileSync(join(admin, 'status'), status);
  writeFileSync(join(admin, 'available'), '');
  return { DPKG_ADMINDIR: admin, DPKG_ROOT: root, DPKG_FORCE: 'not-root,script-chrootless,bad-path' };
}

const statusOf = (state: string) =>
  `Package: homeport\nStatus: install ${state}\nMaintainer: a\nArchitecture: amd64\nVersion: 0.4.0\nDescription: a\n`;

it('unpacks and configures again what a kill has interrupted', async () => {
  const environment = dpkgElsewhere(statusOf('reinstreq half-installed'));
  const file = packageFile();
  await finishInterrupted(file, environment);
  expect(await installedVersion(environment)).toBe('0.4.0');
  // A complete package is left alone.
  rmSync(file);
  await finishInterrupted(file, environment);
  expect(await installedVersion(environment)).toBe('0.4.0');
});

it('merges changes of the database of dpkg, beside which apt refuses to work', async () => {
  const environment = dpkgElsewhere(statusOf('ok unpacked'));
  const updates = join(folder.path, 'admin/updates');
  writeFileSync(join(updates, '0000'), statusOf('ok installed'));
  await finishInterrupted(packageFile(), environment);
  expect(readdirSync(updates)).toEqual([]);
  expect(await installedVersion(environment)).toBe('0.4.0');
});

it('merges changes of the database of dpkg also if the package is complete', async () => {
  const environment = dpkgElsewhere(statusOf('ok unpacked'));
  const updates = join(folder.path, 'admin/updates');
  writeFileSync(join(updates, '0000'), statusOf('ok installed'));
  expect(await configurePackage('0.4.0', environment)).toBe(true);
  expect(readdirSync(updates)).toEqual([]);
});

it('counts a package as complete only if dpkg has configured it', async () => {
  const environment = dpkgElsewhere();
  const repaired = join(folder.path, 'repaired');
  const file = packageFile('homeport', '0.4.0', `#!/bin/sh\n[ -e '${repaired}' ]\n`);
  expect(await runDpkg(['--unpack', file], environment)).toBe(true);
  expect(await configurePackage('0.4.0', environment)).toBe(false);
  writeFileSync(repaired, '');
  expect(await configurePackage('0.4.0', environment)).toBe(true);
  expect(await configurePackage('0.5.0', environment)).toBe(false);
});

it('waits while another program installs packages, and after no other fault of dpkg', async () => {
  const environment = dpkgElsewhere();
  const [begun, go] = [join(folder.path, 'begun'), join(folder.path, 'go')];
  const slow = `#!/bin/sh\n: > '${begun}'\nwhile [ ! -e '${go}' ]; do sleep 0.05; done\n`;
  const first = runDpkg(['--install', packageFile('other', '1', slow)], environment);
  await expect.poll(() => existsSync(begun), { timeout: 30_000 }).toBe(true);
  const second = runDpkg(['--unpack', packageFile('homeport', '0.4.0', '#!/bin/sh\n')], environment, 50);
  // It has met the lock by then, and would have ended otherwise.
  const isWaiting = await Promise.race([
    second,
    new Promise((resolve) => setTimeout(resolve, 1_000, 'waits')),
  ]);
  expect(isWaiting).toBe('waits');
  writeFileSync(go, '');
  expect(await first).toBe(true);
  expect(await second).toBe(true);
  expect(await runDpkg(['--unpack', join(folder.path, 'missing.deb')], environment)).toBe(false);
});

it('orders versions as dpkg does', async () => {
  expect(await isNewer('0.4.0', '0.4.0~dev')).toBe(true);
  expect(await isNewer('0.4.0', '0.4.0')).toBe(false);
  expect(await isNewer('0.9.0', '0.10.0')).toBe(false);
});

it('adds up what several folders of a file system need', async () => {
  const [here, there] = [join(folder.path, 'a/b'), join(folder.path, 'c')];
  expect(await missingRoom([{ folder: here, bytes: 1 }])).toEqual([]);
  const half = 2 ** 61;
  const [sentence] = await missingRoom([
    { folder: here, bytes: half },
    { folder: there, bytes: half },
  ]);
  expect(sentence).toContain(`The file system of ${here} has `);
});

it.each([
  ['goes on', { installed: '1' }, 'install', 'install'],
  ['goes on after the installation', { installed: '2' }, 'install', 'install'],
  ['returns from a version that never served', { installed: '2' }, 'return', 'return'],
  ['returns again, whatever was installed', { installed: '3', isReturning: true }, 'return', 'return'],
  [
    'never returns from a version that has served since',
    { installed: '2', hasServed: true },
    'install',
    'look',
  ],
  ['nor while its return had not begun', { installed: '2', hasServed: true }, 'return', 'look'],
  ['finishes a return', { installed: '1', hasServed: true }, 'return', 'return'],
  ['forgets an upgrade after another one', { installed: '3' }, 'install', 'forget'],
  ['also after a return', { installed: '3', hasServed: true }, 'return', 'forget'],
] as const)('%s', (_case, found, step, course) => {
  const state = { step, former: { version: '1', file: '' }, next: { version: '2', file: '' } };
  expect(courseOf(state, { isReturning: false, hasServed: false, ...found })).toBe(course);
});

it.each([
  [{ service: 'active', socket: 'active' }, ['homeport-host.service', 'homeport.service']],
  [{ service: 'inactive', socket: 'active' }, ['homeport-host.service', 'homeport.service']],
  [{ service: 'failed', socket: 'active' }, ['homeport-host.service', 'homeport.service']],
  [{ service: 'active', socket: 'inactive' }, ['homeport-host.service', 'homeport.service']],
  [{ service: 'inactive', socket: 'inactive' }, ['homeport-host.service']],
])('counts a control plane that a connection could start: %o', ({ service, socket }, serving) => {
  const shown = [
    { id: 'homeport-host.service', activeState: 'active' },
    { id: 'homeport.service', activeState: service },
    { id: 'homeport.socket', activeState: socket },
  ];
  expect(servingUnits(shown)).toEqual(serving);
});

it.each([
  ['first start', { restarts: 0 }, false],
  ['second start', { restarts: 1 }, false],
  ['third start', { restarts: 2 }, true],
  ['start that succeeded', { restarts: 2, activeState: 'active' }, false],
  ['start of the former version', { restarts: 2, invocation: 'a' }, false],
])('gives up a version that ends again and again before it is ready: %s', (_case, found, isGivenUp) => {
  const service = { activeState: 'activating', invocation: 'b', ...found };
  expect(keepsFailing(service, ['a'])).toBe(isGivenUp);
});

it('refuses to go on if a service was started after the decision about a copy', () => {
  const host = 'homeport-host.service';
  expect(() => requireSameServices([host], [host, 'homeport.service'])).toThrow(
    'homeport.service was started',
  );
  requireSameServices([host, 'homeport.service'], [host]);
});

it('takes a service that was not restarted for one of the former version', () => {
  expect(isNewStart({ activeState: 'active', invocation: 'b' }, ['a'])).toBe(true);
  expect(isNewStart({ activeState: 'active', invocation: 'a' }, ['a'])).toBe(false);
  expect(isNewStart({ activeState: 'activating', invocation: 'b' }, ['a'])).toBe(false);
});

it('does not end with "nothing was changed" if an error stops it', async () => {
  const full = async () => {
    throw new OperatorError('The disk is full.');
  };
  const { exitCode } = process;
  expect(await orNeedsOperator(full).finally(() => Object.assign(process, { exitCode }))).toBe(
    NEEDS_OPERATOR,
  );
  expect(await orNeedsOperator(async () => 0)).toBe(0);
});

it('goes on without its terminal', async () => {
  const file = join(folder.path, 'ended');
  const program = join(import.meta.dirname, 'surviving-terminal.fixture.ts');
  const child = spawn(process.execPath, [program, file], { stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = once(child, 'exit');
  child.stdout.destroy();
  child.stderr.destroy();
  expect(await ended).toEqual([0, null]);
  expect(existsSync(file)).toBe(true);
});

it('tells the script of the package that it watches the services', async () => {
  expect(await run('/bin/sh', ['-c', `[ "$${WATCHED}" = yes ]`])).toBe(0);
});

it('refuses to go on beside another upgrade', async () => {
  const lock = join(folder.path, 'lock');
  await aloneUpgrading(async () => {
    await expect(aloneUpgrading(async () => {}, lock)).rejects.toThrow('Another "homeport upgrade" runs');
  }, lock);
  await expect(aloneUpgrading(async () => 'alone', lock)).resolves.toBe('alone');
  const failing = async () => {
    throw new Error('another process has held it');
  };
  await expect(aloneUpgrading(failing, lock)).rejects.toThrow(/^another process/);
});

it('says what to do with another installation to users without root, too', async () => {
  const program = join(import.meta.dirname, '../../../../bin/homeport.mjs');
  const nobody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
  const child = spawn(process.execPath, [program, 'upgrade', '--check'], { ...nobody, cwd: '/' });
  const said = text(child.stderr);
  expect(await once(child, 'exit')).toEqual([1, null]);
  expect(await said).toMatch(
    /which this Homeport is not from\. In a (clone|container): Make a platform backup first/,
  );
});

it.each([
  ['/.dockerenv', 'docs/container.md'],
  ['/program/.git', 'git pull && npm ci'],
  ['/nothing', 'install.sh --archive'],
])('says what to do with %s', (present, said) => {
  expect(otherInstallation('/program', undefined, (path) => path === present, true)).toContain(said);
});
