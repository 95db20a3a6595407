import { cp, mkdir, readdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runCommand } from '../../src/lib/run-command.ts';
import { baseSystem, type Release } from './base-system.ts';
import {
  createNamespaceMachine,
  type NamespaceMachine,
  type NamespaceMachineOptions,
} from './namespace-machine.ts';

export interface PackageMachineOptions {
  release: Release;
  /** Where base systems and downloaded packages are kept. */
  folder: string;
  /** Of the machine, whose folder is emptied first. */
  name: string;
  bootMs: number;
  /** See {@link NamespaceMachineOptions}. */
  shared?: string | undefined;
}

export interface PackageMachine extends NamespaceMachine {
  /** Of this machine, for files about that one. */
  folder: string;
  /** Copies a file of this machine into the machine. */
  give(file: string, to: string): Promise<void>;
  /** Keeps the packages that the machine has downloaded for the next one. */
  keepDownloads(): Promise<void>;
}

const ARCHIVES = 'var/cache/apt/archives';
/** mmdebstrap(1) writes its options for apt there. A server installs the packages that others recommend. */
const OPTIONS_OF_BASE = 'etc/apt/apt.conf.d/99mmdebstrap';
const COPY_MS = 600_000;

/** slirp4netns(1) names these addresses. It answers no DHCP. */
const FILES: Record<string, string> = {
  'etc/fstab': '',
  'etc/systemd/network/50-dhcp.network':
    '[Match]\nName=tap0\n\n[Network]\nAddress=10.0.2.100/24\nGateway=10.0.2.2\n',
};
/** They would change this machine, whose kernel it shares. */
const MASKED = ['systemd-sysctl.service', 'systemd-modules-load.service'];

/** A small server with Debian, without Homeport, in namespaces. */
export async function packageMachine({
  release,
  folder,
  name,
  bootMs,
  shared,
}: PackageMachineOptions): Promise<PackageMachine> {
  const base = await baseSystem(release, join(folder, `debian-${release}`));
  const kept = join(folder, `packages-${release}`);
  const place = join(folder, name);
  const root = join(place, 'root');
  await rm(place, { recursive: true, force: true });
  await mkdir(place, { recursive: true });
  await runCommand('cp', ['-a', '--reflink=auto', base, root], { timeoutMs: COPY_MS });
  await rm(join(root, OPTIONS_OF_BASE));
  for (const [path, text] of Object.entries(FILES)) await writeFile(join(root, path), text);
  for (const unit of MASKED) await symlink('/dev/null', join(root, 'etc/systemd/system', unit));
  await mkdir(kept, { recursive: true });
  await cp(kept, join(root, ARCHIVES), { recursive: true });
  return {
    ...createNamespaceMachine({ root, folder: place, name: `homeport-${name}`, bootMs, shared }),
    folder: place,
    give: (file, to) => cp(file, join(root, to)),
    async keepDownloads() {
      for (const one of await readdir(join(root, ARCHIVES))) {
        if (one.endsWith('.deb')) await rename(join(root, ARCHIVES, one), join(kept, one));
      }
    },
  };
}
