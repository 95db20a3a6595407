import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { AddressRange, ListenAddress } from '../../../config/settings/setting-values.ts';
import { systemDnsServers } from '../../../network/dns/resolver.ts';
import { PHP_RANGES } from '../../policy/php-limits.ts';
import { ensureFolder } from '../isolation/owned-folder.ts';
import type { LinuxLayout } from '../machine/layout.ts';
import type { UploadMb } from './body-limits.ts';
import type { ConfigurationFiles } from './configuration-files.ts';
import { groupId, mostOpenFiles, trustedRoots } from './machine.ts';
import type { StorageServerOptions } from './render-offload.ts';
import { USAGE_LOG } from './usage-lines.ts';

/** Options of the configuration that depend on the machine and the settings. */
export interface MachineOptions {
  layout: LinuxLayout;
  edgeHttp: ListenAddress;
  edgeHttps: ListenAddress;
  /** Proxies whose `X-Forwarded-For` is trusted. */
  trustedProxies: AddressRange[];
  /** Identifies this nginx among those of other hosts on the machine. */
  instance: string;
  /** Folder of notices. */
  notices: string;
  /** PEM file with certificate and key for names without a certificate. */
  ownCertificate: string;
  /** DNS servers for the names of object storage. */
  resolvers: ListenAddress[];
  storage: StorageServerOptions;
  /** The log of requests that the host counts and deletes. */
  usageLog: string;
  pidFile: string;
  /** Folder for bodies and answers that are too large for memory. */
  temporary: string;
  /** Unix user of the worker processes. */
  user: string;
  /** Maximum of open files per worker. */
  openFiles: number;
  uploadMb: UploadMb;
}

export interface MachineOptionSources {
  layout: LinuxLayout;
  edgeHttp: ListenAddress;
  edgeHttps: ListenAddress;
  trustedProxies: AddressRange[];
  instance: string;
  files: ConfigurationFiles;
  /** Null: the machine's. */
  resolvers: ListenAddress[] | null;
  /** The machine's if left out. */
  storageRoots?: string | undefined;
  uploadMb?: UploadMb | undefined;
}

/** The Unix user and group of nginx's workers, by Debian. */
export const WORKER_USER = 'www-data';

/** Unix sockets of nginx and its process id file, in a separate folder. */
export function runFiles({ runFolder }: LinuxLayout) {
  const folder = join(runFolder, 'nginx');
  return {
    folder,
    storageSocket: join(folder, 'storage.sock'),
    statusSocket: join(folder, 'status.sock'),
    innerSocket: join(folder, 'inner.sock'),
    primarySocket: join(folder, 'primary.sock'),
    // A process that reaches it can change the served websites. nginx's workers inherit it from the main process.
    controlFolder: join(folder, 'control'),
    controlSocket: join(folder, 'control', 'control.sock'),
    pidFile: join(folder, 'nginx.pid'),
    usageLogs: join(folder, 'usage'),
  };
}

/** Creates the folders that nginx expects. */
export async function makeFolders(layout: LinuxLayout, files: ConfigurationFiles): Promise<void> {
  for (const [folder, mode] of [
    [layout.nginx, 0o711],
    [layout.caches, 0o711],
    [layout.proofs, 0o755],
  ] as const) {
    await mkdir(folder, { recursive: true, mode });
  }
  // Anyone who reaches the storage server's socket can make nginx fetch anything.
  const gid = await groupId(WORKER_USER);
  const { folder, usageLogs, controlFolder } = runFiles(layout);
  await ensureFolder(folder, { uid: 0, gid, mode: 0o710 });
  await ensureFolder(controlFolder, { uid: 0, gid: 0, mode: 0o700 });
  // The log has the addresses of visitors. nginx's workers open it by name.
  await ensureFolder(usageLogs, { uid: 0, gid, mode: 0o710 });
  await files.prepare();
}

/** Reads the machine's current resolvers, root certificates and limit of open files. */
export async function readMachineOptions(sources: MachineOptionSources): Promise<MachineOptions> {
  const { layout, edgeHttp, edgeHttps, trustedProxies, instance, resolvers } = sources;
  const { paths } = sources.files;
  const { storageSocket, pidFile, usageLogs } = runFiles(layout);
  return {
    layout,
    edgeHttp,
    edgeHttps,
    trustedProxies,
    instance,
    notices: paths.notices,
    ownCertificate: paths.ownCertificate,
    resolvers: resolvers ?? systemDnsServers(),
    storage: { socket: storageSocket, roots: await trustedRoots(sources.storageRoots) },
    usageLog: join(usageLogs, USAGE_LOG),
    pidFile,
    temporary: paths.temporary,
    user: WORKER_USER,
    openFiles: await mostOpenFiles(),
    uploadMb: sources.uploadMb ?? PHP_RANGES.phpUploadMb,
  };
}
