import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ifThere } from '../../src/lib/if-there.ts';
import { runCommand } from '../../src/lib/run-command.ts';
import { aptMirrors, sourcesList } from './apt-mirrors.ts';
import { inRoot } from './in-root.ts';

/** Debian releases by the version that os-release(5) names. */
export const RELEASES = { '12': 'bookworm', '13': 'trixie' } as const;
export type Release = keyof typeof RELEASES;

/** Packages of a small server after Debian's installer, with git and npm, which the documentation asks for. */
const PACKAGES = [
  'apparmor',
  'ca-certificates',
  'cron',
  'curl',
  'dbus',
  'git',
  'initramfs-tools',
  'iproute2',
  'libpam-systemd',
  'linux-image-cloud-amd64',
  'npm',
  'openssh-server',
  'sudo',
  'systemd-sysv',
  'udev',
  'zstd',
];

/** In an emulated machine the initial RAM disk unpacks for minutes if it holds every driver. */
const INITRAMFS_MODULES = ['virtio_pci', 'virtio_blk', 'ext4'];

const AUTHORITIES = 'usr/local/share/ca-certificates';

/** `qemu -netdev user` answers DHCP and has a name server at this address. */
const NAME_SERVER = '10.0.2.3';

const FILES: Record<string, string> = {
  'etc/hostname': 'machine\n',
  'etc/hosts': '127.0.0.1 localhost machine\n::1 localhost\n',
  'etc/fstab': 'LABEL=root / ext4 defaults,errors=remount-ro 0 1\n',
  'etc/systemd/network/50-dhcp.network': '[Match]\nType=ether\n\n[Network]\nDHCP=ipv4\n',
  'etc/ssh/sshd_config.d/keys.conf': 'UseDNS no\nPasswordAuthentication no\n',
  'etc/sudoers.d/admin': 'admin ALL=(ALL) NOPASSWD: ALL\n',
  // systemd chooses one at the first boot.
  'etc/machine-id': '',
  'etc/resolv.conf': `nameserver ${NAME_SERVER}\n`,
  'etc/initramfs-tools/conf.d/virtual-machine': 'MODULES=list\nCOMPRESS=zstd\nRESUME=none\n',
  'etc/initramfs-tools/modules': INITRAMFS_MODULES.map((name) => `${name}\n`).join(''),
};

const INSTALL_MS = 1_800_000;

/**
 * The root folder of a Debian that boots, with a user `admin` who may use sudo and without Homeport. It is kept in
 * `folder` and made again only if its recipe changes. Needs root and mmdebstrap.
 */
export async function baseSystem(release: Release, folder: string): Promise<string> {
  const root = join(folder, 'root');
  const sources = sourcesList(await aptMirrors(), RELEASES[release]);
  const recipe = JSON.stringify([sources, PACKAGES, FILES]);
  if ((await ifThere(readFile(join(folder, 'recipe'), 'utf8'))) === recipe) return root;
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const sourcesFile = join(folder, 'sources.list');
  await writeFile(sourcesFile, sources);
  await runCommand(
    'mmdebstrap',
    [
      '--variant=important',
      `--include=${PACKAGES.join(',')}`,
      '--aptopt=Acquire::Languages "none"',
      '--aptopt=Acquire::Retries "3"',
      '--aptopt=APT::Install-Recommends "false"',
      '--dpkgopt=force-unsafe-io',
      RELEASES[release],
      root,
      sourcesFile,
    ],
    { timeoutMs: INSTALL_MS },
  );
  await configure(root);
  await writeFile(join(folder, 'recipe'), recipe);
  return root;
}

async function configure(root: string): Promise<void> {
  // The resolver of the build is a link on some machines.
  await rm(join(root, 'etc/resolv.conf'), { force: true });
  for (const [path, text] of Object.entries(FILES)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  }
  // A proxy in front of this machine may have a private authority, and the guest is behind the same proxy.
  await cp(join('/', AUTHORITIES), join(root, AUTHORITIES), { recursive: true });
  await inRoot(root, ['update-ca-certificates']);
  await inRoot(root, ['useradd', '--create-home', '--shell', '/bin/bash', 'admin']);
  await inRoot(root, ['systemctl', '--quiet', 'enable', 'systemd-networkd.service']);
  await inRoot(root, ['update-initramfs', '-u']);
}
