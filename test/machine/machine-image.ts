import { existsSync } from 'node:fs';
import { copyFile, cp, mkdir, readdir, readFile, rename, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runCommand } from '../../src/lib/run-command.ts';
import { baseSystem, type Release } from './base-system.ts';
import { inRoot } from './in-root.ts';

/** Files that a machine boots from. */
export interface MachineImage {
  /** A raw disk, never written to. */
  disk: string;
  kernel: string;
  initrd: string;
  /** Private key that root and admin accept. */
  key: string;
}

export interface ImageOptions {
  release: Release;
  /** The repository whose last commit is tested. */
  repository: string;
  /** Where everything is kept: `debian-<release>/`, `packages-<release>/`, `image-<release>/` and `key`. */
  folder: string;
  /** Takes the image of the last run, unless it is missing. */
  keep: boolean;
  /** Called with what is done next. */
  progress(step: string): void;
}

const DISK_BYTES = 12 * 1024 ** 3;
const SLOW_MS = 1_800_000;

/** Where the documentation puts the program. */
export const PROGRAM = '/opt/homeport';

const ARCHIVES = 'var/cache/apt/archives';
const RESOLVER = 'etc/resolv.conf';

/**
 * Makes a disk that is ready for `npm run host:setup`: it has a clone, its dependencies (by Debian's npm) and Homeport's
 * packages. All of that runs natively, because an emulated processor takes many times longer.
 */
export async function machineImage(options: ImageOptions): Promise<MachineImage> {
  const { release, repository, folder, keep, progress } = options;
  const image = join(folder, `image-${release}`);
  const root = join(image, 'root');
  const key = join(folder, 'key');
  const made = {
    disk: join(image, 'disk.raw'),
    kernel: join(image, 'kernel'),
    initrd: join(image, 'initrd'),
    key,
  };
  if (keep && existsSync(made.initrd)) return made;
  progress(`Debian ${release}`);
  const base = await baseSystem(release, join(folder, `debian-${release}`));
  await rm(image, { recursive: true, force: true });
  await mkdir(image, { recursive: true });
  await runCommand('cp', ['-a', '--reflink=auto', base, root], { timeoutMs: SLOW_MS });
  await provideKey(key);
  await allowAccess(root, `${key}.pub`);

  const guestResolver = await readFile(join(root, RESOLVER), 'utf8');
  await copyFile(join('/', RESOLVER), join(root, RESOLVER));
  progress('git clone');
  const trusted = ['-c', 'safe.directory=*'];
  await runCommand('git', [...trusted, 'clone', '--quiet', repository, join(root, PROGRAM)]);
  progress('npm ci');
  const network = await networkSettings();
  await inRoot(root, ['npm', 'ci'], { folder: PROGRAM, environment: network, timeoutMs: SLOW_MS });
  progress('packages');
  const before = await startedServices(root);
  await withKeptPackages(root, join(folder, `packages-${release}`), () =>
    inRoot(root, ['npm', 'run', '--silent', 'host:setup', '--', '--packages'], {
      folder: PROGRAM,
      environment: network,
      timeoutMs: SLOW_MS,
    }),
  );
  // Set-up on a running machine keeps them from ever starting; here they would start with the first boot.
  const added = (await startedServices(root)).filter((name) => !before.includes(name));
  await inRoot(root, ['systemctl', '--quiet', 'disable', ...added]);
  await writeFile(join(root, RESOLVER), guestResolver);

  progress('disk');
  await writeFile(made.disk, '');
  await truncate(made.disk, DISK_BYTES);
  const format = ['-q', '-t', 'ext4', '-L', 'root', '-d', root, made.disk];
  await runCommand('mke2fs', format, { timeoutMs: SLOW_MS });
  await copyFile(await inBoot(root, 'vmlinuz-'), made.kernel);
  // Last: it stands for a whole image.
  await copyFile(await inBoot(root, 'initrd.img-'), made.initrd);
  await rm(root, { recursive: true });
  return made;
}

async function startedServices(root: string): Promise<string[]> {
  const names = await readdir(join(root, 'etc/systemd/system/multi-user.target.wants'));
  return names.filter((name) => name.endsWith('.service'));
}

async function inBoot(root: string, prefix: string): Promise<string> {
  const name = (await readdir(join(root, 'boot'))).find((found) => found.startsWith(prefix));
  if (name === undefined) throw new Error(`there is no ${prefix}* in ${root}/boot`);
  return join(root, 'boot', name);
}

/** Makes a key pair for these machines once. */
async function provideKey(key: string): Promise<void> {
  if (existsSync(key)) return;
  await runCommand('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', 'machine test', '-f', key]);
}

async function allowAccess(root: string, publicKey: string): Promise<void> {
  const homes = [
    { home: '/root', owner: 'root' },
    { home: '/home/admin', owner: 'admin' },
  ];
  for (const { home, owner } of homes) {
    await mkdir(join(root, home, '.ssh'), { recursive: true, mode: 0o700 });
    await copyFile(publicKey, join(root, home, '.ssh/authorized_keys'));
    await inRoot(root, ['chown', '--recursive', `${owner}:`, `${home}/.ssh`]);
  }
}

/** How this machine reaches the Internet: its proxy and npm's registry; its authorities are in the root already. */
async function networkSettings(): Promise<Record<string, string>> {
  const registry = (await runCommand('npm', ['config', 'get', 'registry'])).stdout.trim();
  const proxies = Object.entries(process.env).flatMap(([name, value]) =>
    /^(https?|no)_proxy$/i.test(name) && value !== undefined ? [[name, value]] : [],
  );
  return {
    ...Object.fromEntries(proxies),
    npm_config_registry: registry,
    NODE_EXTRA_CA_CERTS: '/etc/ssl/certs/ca-certificates.crt',
  };
}

/** Packages that an earlier image was made with need no second download. */
async function withKeptPackages(root: string, kept: string, install: () => Promise<unknown>): Promise<void> {
  await mkdir(kept, { recursive: true });
  await cp(kept, join(root, ARCHIVES), { recursive: true });
  await install();
  for (const name of await readdir(join(root, ARCHIVES))) {
    if (name.endsWith('.deb')) await rename(join(root, ARCHIVES, name), join(kept, name));
  }
}
