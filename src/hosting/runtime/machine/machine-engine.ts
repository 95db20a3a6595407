import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Logger } from 'pino';
import { messageOf } from '../../../lib/error-message.ts';
import type { PhpEngine } from '../wasm/php-engine.ts';
import { createProcessFolder } from '../wasm/process-folder.ts';
import { UnconfinedError } from '../wasm/unconfined-error.ts';
import { findPrograms } from './find-programs.ts';
import { startMachineProcess } from './machine-process.ts';
import { extensionLines, NEEDED_EXTENSIONS } from './php-settings.ts';
import { CLI, FPM, type MachinePrograms, sandboxCommand } from './sandbox.ts';
import { startSandbox } from './start-sandbox.ts';
import { systemCallFilter } from './system-call-filter.ts';
import type { MachinePhp } from './website-sandbox.ts';

/** The first one that can ask a Unix socket for connections. */
const LEAST_CURL = 0x07_54_00;
const LEAST_PHP = 80_200;
const PROBE_MB = 512;

const FACTS = `echo json_encode([
  'version' => PHP_VERSION, 'id' => PHP_VERSION_ID, 'zts' => PHP_ZTS, 'folder' => PHP_EXTENSION_DIR,
  'extensions' => get_loaded_extensions(), 'zend' => get_loaded_extensions(true),
  'curl' => function_exists('curl_version') ? curl_version()['version_number'] : 0,
]);`;

interface Facts {
  version: string;
  id: number;
  folder: string;
  extensions: string[];
  zend: string[];
  curl: number;
}

/** The machine's PHP, or why websites cannot use it, as a clause. */
export type MachinePhpFound = { php: MachinePhp; reason?: undefined } | { php?: undefined; reason: string };

interface EngineParts {
  /** Folder of the runtime. */
  folder: string;
  path: string;
  log: Logger;
  date(): Date;
}

/** Looks for a PHP-FPM that websites can use, and starts it in a sandbox to see that the walls hold. Changes nothing but `folder`. */
export async function findMachinePhp(folder: string, path: string): Promise<MachinePhpFound> {
  if (process.platform !== 'linux') return { reason: 'only Linux has the walls for it' };
  const filter = systemCallFilter(process.arch);
  if (filter === null) return { reason: `there is no filter of system calls for ${process.arch}` };
  const programs = findPrograms(path);
  if (programs.length === 0) return { reason: 'PHP-FPM with its command line is not installed' };
  const file = filterFileIn(folder);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeFile(file, filter);
  let reason = '';
  for (const pair of programs) {
    const found = await inspect(pair, file);
    if (found.php !== undefined) return found;
    reason ||= found.reason;
  }
  return { reason };
}

/** The engine of a machine whose PHP {@link findMachinePhp} has found; `found.reason` otherwise. */
export async function createMachineEngine({
  folder,
  path,
  log,
  date,
}: EngineParts): Promise<{ engine: PhpEngine } | { reason: string }> {
  const own = await createProcessFolder(folder);
  const found = await findMachinePhp(own, path);
  if (found.php === undefined) {
    await rm(own, { recursive: true, force: true });
    return { reason: found.reason };
  }
  const { php } = found;
  let last = 0;
  return {
    engine: {
      version: php.version,
      walls: 'bubblewrap, filter of system calls, no network',
      start: (site, options) =>
        startMachineProcess(site, {
          ...options,
          log,
          php,
          folder: join(own, String(++last)),
          filter: filterFileIn(own),
          date,
        }),
      close: () => rm(own, { recursive: true, force: true }),
    },
  };
}

const filterFileIn = (folder: string): string => join(folder, 'system-calls.bpf');

async function inspect(programs: MachinePrograms, filter: string): Promise<MachinePhpFound> {
  try {
    const bare = await facts(programs, filter, []);
    const lines = extensionLines(await readdir(bare.folder));
    const loading = lines.split('\n').flatMap((line) => ['-d', line]);
    const { version, id, extensions, zend, curl } = await facts(programs, filter, loading);
    const fpm = await output(programs, filter, [FPM, '-n', '-v']);
    if (!fpm.startsWith(`PHP ${version} `)) {
      return { reason: `${programs.fpm} and ${programs.cli} have different versions` };
    }
    if (id < LEAST_PHP) return { reason: `PHP ${version} is too old` };
    const present = new Set([...extensions, ...zend].map((name) => name.toLowerCase()));
    const missing = NEEDED_EXTENSIONS.filter((name) => !present.has(name.toLowerCase()));
    if (missing.length > 0) return { reason: `PHP ${version} lacks ${missing.join(', ')}` };
    if (curl < LEAST_CURL) return { reason: 'the curl extension needs libcurl 7.84' };
    return { php: { ...programs, version, extensions: lines } };
  } catch (error) {
    return { reason: messageOf(error) };
  }
}

async function facts(programs: MachinePrograms, filter: string, settings: string[]): Promise<Facts> {
  const printed = await output(programs, filter, [CLI, '-n', ...settings, '-r', FACTS]);
  return JSON.parse(printed.slice(printed.indexOf('{')));
}

/** What a program prints in a sandbox without folders. */
async function output(
  programs: MachinePrograms,
  filter: string,
  command: readonly string[],
): Promise<string> {
  const environment = { PHP_INI_SCAN_DIR: '' };
  const started = await startSandbox(
    sandboxCommand(programs, { shown: [], environment, folder: '/', memoryMb: PROBE_MB }, command),
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
