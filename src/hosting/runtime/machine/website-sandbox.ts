import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { PhpSite } from '../wasm/php-sites.ts';
import type { ConnectOut } from '../wasm/platform-services.ts';
import { createDocumentRoot, type DocumentRoot } from './document-root.ts';
import {
  createWebsiteNetwork,
  type NetworkPrograms,
  type WebsiteNetwork,
} from './network/website-network.ts';
import { fpmConf, phpIni, SETTINGS } from './php-settings.ts';
import { type MachinePrograms, type Shown, sandboxCommand, withOverlay } from './sandbox.ts';
import { type SandboxProcess, startSandbox } from './start-sandbox.ts';

/** The PHP of this machine that websites can use. */
export interface MachinePhp extends MachinePrograms {
  version: string;
  /** Lines of the settings that load its extensions. */
  extensions: string;
  extensionFolder: string;
  /** Makes the networks of websites. */
  network: NetworkPrograms;
}

/** Memory of a process beyond a page's `memory_limit` and an upload. */
const OWN_MB = 192;
/** The least memory of a script of the platform. */
const SCRIPT_MB = 256;
/** The most processes and threads of a website: several times what its workers and scripts need. The kernel does not count those of root. */
const MOST_PROCESSES = 256;
/** Where the sandbox shows the sockets of the platform, the socket of FPM, and what one script needs. */
const RUN = '/homeport/run';
const LISTEN = '/homeport/listen';
export const JOB = '/homeport/job';
const SERVICES = 'services.sock';
export const FPM_CONF = `${SETTINGS}/fpm.conf`;
const FPM_SOCKET = 'fpm.sock';
/** The platform is the name server, and fails at once what it cannot find. */
const RESOLVER = 'nameserver 127.0.0.1\noptions timeout:5 attempts:1\n';
const PREPEND = join(import.meta.dirname, 'php/prepend.php');

export interface SandboxedProgram extends SandboxProcess {
  /** As in RootMount. */
  changedAt: bigint;
}

interface StartOptions {
  /** Folder of a script, which the program only reads. */
  job?: string;
  /** Folder in which FPM creates its socket. */
  listen?: string;
  /** Without it, the program reaches no socket of the platform. Default: true. */
  network?: boolean | undefined;
  /** Without it, reading standard input fails. Default: true. */
  hasInput?: boolean;
  folder?: string;
  environment?: Record<string, string>;
}

/** Folders that must not exist yet. */
export interface SandboxFolders {
  /** On the file system of the websites. */
  folder: string;
  /** With a path that is short enough for sockets. */
  sockets: string;
}

/** The folders of one website, and programs in sandboxes that show them. */
export interface WebsiteSandbox {
  root: Pick<DocumentRoot, 'changedAt'>;
  /** Socket of the platform's services. */
  services: string;
  private: FileHandle;
  start(command: readonly string[], options: StartOptions): Promise<SandboxedProgram>;
  /** Makes a folder with these files. */
  folderOf(files: Readonly<Record<string, string>>): Promise<string>;
  remove(): Promise<void>;
}

/** Prepares the sandboxes of a website. `filter`: file with the filter of system calls. */
export async function createWebsiteSandbox(
  { folder, sockets }: SandboxFolders,
  filter: string,
  php: MachinePhp,
  site: PhpSite,
  outside: { connectOut: ConnectOut; log: Logger },
): Promise<WebsiteSandbox> {
  // Not recursive: that would bring back the folder of a runtime that has been closed.
  for (const path of [folder, sockets]) await mkdir(path, { mode: 0o700 });
  const settings = join(folder, 'etc');
  const run = join(sockets, 'run');
  for (const path of [settings, run]) await mkdir(path, { mode: 0o700 });
  await writeFile(join(settings, 'php.ini'), phpIni(php.extensions, site.limits));
  await writeFile(join(settings, 'fpm.conf'), fpmConf(site.limits, `${LISTEN}/${FPM_SOCKET}`));
  await writeFile(
    join(settings, 'prepend.php'),
    `<?php require '${SETTINGS}/machine.php'; ?>${site.prepend}`,
  );
  // The place of the mounted file.
  await writeFile(join(settings, 'machine.php'), '');
  await writeFile(join(settings, 'resolv.conf'), RESOLVER);
  const root = await createDocumentRoot(folder, site);
  const opened: FileHandle[] = [];
  let net: WebsiteNetwork | null = null;
  let last = 0;

  /** Opens a folder that its owner may replace by a link. */
  async function plain(path: string): Promise<FileHandle> {
    const handle = await open(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
    opened.push(handle);
    return handle;
  }

  async function remove(): Promise<void> {
    await net?.close();
    for (const handle of opened) await handle.close();
    for (const path of [folder, sockets]) await rm(path, { recursive: true, force: true });
  }

  try {
    const joined = await createWebsiteNetwork(php.network, { siteId: site.id, ...outside });
    net = joined;
    const own = await plain(site.private);
    // Each may be in the one before.
    const changeable = [site.website, site.private, site.database];
    const writable: Shown[] = [
      { from: own, to: '/private', isWritable: true },
      { from: await plain(site.database), to: '/database', isWritable: true },
      { from: await plain(join(site.private, 'tmp')), to: '/tmp', isWritable: true },
    ];
    const fixed: Shown[] = [
      ...Object.entries(site.readOnly).map(([to, from]) => ({ from, to })),
      { from: settings, to: SETTINGS },
      { from: PREPEND, to: `${SETTINGS}/machine.php` },
      { from: join(settings, 'resolv.conf'), to: '/etc/resolv.conf' },
    ];
    const { memoryMb, uploadMb } = site.limits;
    const processMb = Math.max(memoryMb, SCRIPT_MB) + uploadMb + OWN_MB;

    return {
      root,
      services: join(run, SERVICES),
      private: own,

      async start(
        command,
        { job, listen, network = true, hasInput = true, folder: cwd = '/wordpress', environment = {} },
      ) {
        const mount = await root.mount();
        try {
          const { command: sandboxed, descriptors } = sandboxCommand(
            php,
            {
              shown: [
                { from: mount.place, to: '/wordpress', isWritable: true },
                ...mount.over,
                ...writable,
                ...fixed,
                ...(network ? [{ from: run, to: RUN }] : []),
                ...(job === undefined ? [] : [{ from: job, to: JOB }]),
                ...(listen === undefined ? [] : [{ from: listen, to: LISTEN, isWritable: true }]),
              ],
              folder: cwd,
              memoryMb: processMb,
              processes: MOST_PROCESSES,
              joined,
              isAlone: !network,
              environment: {
                PHP_INI_SCAN_DIR: '',
                LANG: 'C.UTF-8',
                TMPDIR: '/tmp',
                MAGICK_THREAD_LIMIT: '1',
                ...environment,
              },
            },
            command,
          );
          const started = await startSandbox(
            { command: withOverlay(mount, changeable, sandboxed), descriptors },
            filter,
            hasInput,
          );
          void started.ended.then(mount.remove, mount.remove).catch(() => undefined);
          return { ...started, changedAt: mount.changedAt };
        } finally {
          for (const handle of mount.opened) await handle.close();
        }
      },

      async folderOf(files) {
        const path = join(sockets, `job-${++last}`);
        await mkdir(path, { mode: 0o700 });
        for (const [name, text] of Object.entries(files)) {
          await writeFile(join(path, name), text, { mode: 0o600 });
        }
        return path;
      },

      remove,
    };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** Where the platform finds FPM's socket in the folder that FPM listens in. */
export const fpmSocketIn = (listen: string): string => join(listen, FPM_SOCKET);
