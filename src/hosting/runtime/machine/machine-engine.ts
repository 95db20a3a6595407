import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { messageOf } from '../../../lib/error-message.ts';
import { MACHINE_MEMORY } from '../../policy/wasm-php-limits.ts';
import { OWN_PREFIX } from '../wasm/abandoned-entries.ts';
import type { OtherPhp } from '../wasm/php-engine.ts';
import { createProcessFolder } from '../wasm/process-folder.ts';
import { UnconfinedError } from '../wasm/unconfined-error.ts';
import { findProgram, findPrograms } from './find-programs.ts';
import { startMachineProcess } from './machine-process.ts';
import type { NetworkPrograms } from './network/website-network.ts';
import { extensionLines, missingExtensions, packagesOf } from './php-settings.ts';
import { stateOf } from './program-state.ts';
import { CLI, FPM, type MachinePrograms, sandboxCommand } from './sandbox.ts';
import { startSandbox } from './start-sandbox.ts';
import { systemCallFilter } from './system-call-filter.ts';
import { faultOf } from './trial-website.ts';
import type { MachinePhp, SandboxFolders } from './website-sandbox.ts';

const LEAST_PHP = 80_200;
const PROBE_MB = 512;
const TRIAL = 'trial';

const FACTS = `echo json_encode([
  'version' => PHP_VERSION, 'id' => PHP_VERSION_ID, 'zts' => PHP_ZTS, 'folder' => PHP_EXTENSION_DIR,
  'extensions' => get_loaded_extensions(), 'zend' => get_loaded_extensions(true),
]);`;

interface Facts {
  version: string;
  id: number;
  folder: string;
  extensions: string[];
  zend: string[];
}

/** The machine's PHP, or why websites cannot use it, as a clause. */
export type MachinePhpFound = { php: MachinePhp; reason?: undefined } | { php?: undefined; reason: string };

/** Looks for a PHP-FPM that websites can use, and serves a trial website with it. `path`: folders of programs. `preferred`: as in {@link OtherPhp}. */
export async function findMachinePhp(
  { folder, sockets }: SandboxFolders,
  path: string,
  preferred: string | null = null,
): Promise<MachinePhpFound> {
  if (process.platform !== 'linux') return { reason: 'only Linux has the walls for it' };
  const filter = systemCallFilter(process.arch);
  if (filter === null) return { reason: `there is no filter of system calls for ${process.arch}` };
  const programs = findPrograms(path, preferred);
  if (programs.length === 0)
    return { reason: 'PHP-FPM with its command line is not installed (apt-get install php-fpm php-cli)' };
  const [ip, nft] = ['ip', 'nft'].map((name) => findProgram(name, path));
  if (typeof ip !== 'string') return { reason: 'ip is not installed (Debian package iproute2)' };
  if (typeof nft !== 'string') return { reason: 'nft is not installed (Debian package nftables)' };
  const file = filterFileIn(folder);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeFile(file, filter);
  let reason = '';
  for (const pair of programs) {
    const found = await inspect(pair, file, { ip, nft });
    const fault =
      found.php === undefined
        ? found.reason
        : await faultOf(found.php, { folder: join(folder, TRIAL), sockets: join(sockets, TRIAL) }, file);
    if (fault === null) return found;
    reason ||= fault;
  }
  return { reason };
}

interface MachinePhpOptions {
  /** Folders of programs. */
  path: string;
  date(): Date;
}

/** PHP-FPM of this machine for all websites. */
export function machinePhp({ path, date }: MachinePhpOptions): OtherPhp {
  return {
    memory: MACHINE_MEMORY,
    isRequired: true,
    async create(folder, preferred) {
      // On the file system of the websites, where overlays of their folders have to be.
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const own = await mkdtemp(join(folder, OWN_PREFIX));
      // Paths of sockets have a limit.
      const sockets = await createProcessFolder(folder);
      const close = async (): Promise<void> => {
        for (const one of [own, sockets]) await rm(one, { recursive: true, force: true });
      };
      let last = 0;
      try {
        const found = await findMachinePhp({ folder: own, sockets }, path, preferred);
        if (found.php === undefined) throw new Error(found.reason);
        const { php } = found;
        const files = [
          php.fpm,
          php.cli,
          php.extensionFolder,
          php.network.ip,
          php.network.nft,
          findProgram('bwrap', path) ?? 'bwrap',
        ];
        const made = await stateOf(files);
        return {
          version: php.version,
          walls: 'bubblewrap, filter of system calls, network of its own for each website',
          start(site, options) {
            const name = String(++last);
            const folders = { folder: join(own, name), sockets: join(sockets, name) };
            return startMachineProcess(site, {
              ...options,
              ...folders,
              php,
              filter: filterFileIn(own),
              date,
            });
          },
          isUsable: async () => made !== null && (await stateOf(files)) === made,
          close,
        };
      } catch (error) {
        await close();
        throw error;
      }
    },
  };
}

const filterFileIn = (folder: string): string => join(folder, 'system-calls.bpf');

async function inspect(
  programs: MachinePrograms,
  filter: string,
  tools: Omit<NetworkPrograms, 'php'>,
): Promise<MachinePhpFound> {
  try {
    const bare = await facts(programs, filter, []);
    const lines = extensionLines(await readdir(bare.folder));
    const loading = lines.split('\n').flatMap((line) => ['-d', line]);
    const { version, id, extensions, zend } = await facts(programs, filter, loading);
    const fpm = await output(programs, filter, [FPM, '-n', '-v']);
    if (!fpm.startsWith(`PHP ${version} `)) {
      return { reason: `${programs.fpm} and ${programs.cli} have different versions` };
    }
    if (id < LEAST_PHP) return { reason: `PHP ${version} is too old` };
    const present = new Set([...extensions, ...zend].map((name) => name.toLowerCase()));
    const missing = missingExtensions(present);
    if (missing.length > 0) {
      const packages = packagesOf(missing, version.split('.').slice(0, 2).join('.'));
      const way = packages.length === 0 ? '' : ` (apt-get install ${packages.join(' ')})`;
      return { reason: `PHP ${version} lacks ${missing.join(', ')}${way}` };
    }
    const sockets = lines.split('\n').filter((line) => line === 'extension=sockets.so');
    const php = [programs.cli, '-n', ...sockets.flatMap((line) => ['-d', line])];
    return {
      php: {
        ...programs,
        version,
        extensions: lines,
        extensionFolder: bare.folder,
        network: { ...tools, php },
      },
    };
  } catch (error) {
    return { reason: messageOf(error) };
  }
}

async function facts(programs: MachinePrograms, filter: string, settings: string[]): Promise<Facts> {
  const printed = await output(programs, filter, [CLI, '-n', ...settings, '-r', FACTS]);
  return JSON.parse(printed.slice(printed.indexOf('{')));
}

/** The output of a program in a sandbox without folders. */
async function output(
  programs: MachinePrograms,
  filter: string,
  command: readonly string[],
): Promise<string> {
  const environment = { PHP_INI_SCAN_DIR: '' };
  const started = await startSandbox(
    sandboxCommand(
      programs,
      { shown: [], environment, folder: '/', memoryMb: PROBE_MB, joined: null },
      command,
    ),
    filter,
  );
  started.stdin?.end();
  let code: number | null;
  const texts = Promise.all([text(started.stdout), text(started.stderr)]);
  try {
    code = await started.ended;
  } catch (error) {
    throw UnconfinedError.from(error, '');
  }
  const [stdout, stderr] = await texts;
  if (code !== 0) throw UnconfinedError.from(new Error('the sandbox ended'), stderr);
  return stdout;
}
