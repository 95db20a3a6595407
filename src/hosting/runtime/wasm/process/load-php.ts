import { getPHPLoaderModule, jspi } from '@php-wasm/node-8-4';
import { loadPHPRuntime, PHP, __private__dont__use as RUNTIME } from '@php-wasm/universal';
import type { PhpProcessStart } from '../process-protocol.ts';
import type { EmscriptenRuntime } from './emscripten.ts';
import type { FileLocks } from './file-locks.ts';
import type { SocketSettings } from './php-sockets.ts';
import { createReadOnlyMemory, type ReadOnlyMemory } from './read-only-memory.ts';
import { MailProgram } from './sendmail.ts';
import { bindLocks, type UserSpaceContext } from './user-space.ts';

const INI_FILE = '/internal/shared/php.ini';
const PREPEND_FILE = '/internal/shared/auto_prepend_file.php';
/** opcache keeps no file that is this young (`opcache.file_update_protection`). */
const FUTURE = Date.UTC(2100, 0);

export interface LoadedPhp {
  php: PHP;
  runtime: EmscriptenRuntime;
  memory: ReadOnlyMemory;
}

export interface PhpParts {
  module: WebAssembly.Module;
  thread: number;
  settings: PhpProcessStart;
  locks: FileLocks;
  sockets: SocketSettings;
  /** Reads a byte of standard input; null at its end. An error fails the reading. */
  readInput(): number | null;
}

/** Loads PHP into this thread. */
export async function loadPhp({
  module,
  thread,
  settings,
  locks,
  sockets,
  readInput,
}: PhpParts): Promise<LoadedPhp> {
  const id = await loadPHPRuntime(await getPHPLoaderModule(), {
    processId: thread,
    // Otherwise `$_ENV['_']` is a path of the machine.
    thisProgram: 'php',
    ENV: {},
    // Emscripten would read that of this process, which belongs to the platform.
    stdin: readInput,
    phpWasmAsyncMode: (await jspi()) ? 'jspi' : 'asyncify',
    quit(_status: number, error: unknown) {
      throw error;
    },
    instantiateWasm(
      imports: WebAssembly.Imports,
      done: (instance: WebAssembly.Instance, module: WebAssembly.Module) => void,
    ) {
      WebAssembly.instantiate(module, imports).then(
        (instance) => done(instance, module),
        (error: unknown) => {
          // Nobody waits for it: the thread ends.
          setImmediate(() => {
            throw error;
          });
        },
      );
    },
    bindUserSpace: (context: UserSpaceContext) => bindLocks(locks, context),
    websocket: sockets,
  });
  const php = new PHP(id);
  const runtime: EmscriptenRuntime = php[RUNTIME];
  const memory = createReadOnlyMemory(runtime.FS);
  // It writes each script into a file.
  const writeFile = php.writeFile.bind(php);
  php.writeFile = (path, content) => memory.change(() => writeFile(path, content));
  const ini = iniFor(settings);
  const lines = php
    .readFileAsText(INI_FILE)
    .split('\n')
    .filter((line) => !Object.hasOwn(ini, line.split('=')[0]?.trim() ?? ''));
  for (const [name, value] of Object.entries(ini)) if (value !== null) lines.push(`${name} = ${value}`);
  php.writeFile(INI_FILE, lines.join('\n'));
  const loaded = { php, runtime, memory };
  writePrepend(loaded, '<?php');
  // opcache is off for a SAPI that it does not know.
  await php.setSapiName('cgi-fcgi');
  // An error would leave PHP waiting, so any other program is one that fails.
  php.setSpawnHandler(() => new MailProgram([], () => Promise.reject(new Error('no such program'))));
  return loaded;
}

/**
 * Writes the file that PHP runs before each script. opcache must not keep it: for 2 seconds it would run the one from before the website was
 * known, without the website's settings.
 */
export function writePrepend({ php, runtime, memory }: LoadedPhp, code: string): void {
  php.writeFile(PREPEND_FILE, code);
  memory.change(() => runtime.FS.utime(PREPEND_FILE, FUTURE, FUTURE));
}

/** Settings of PHP. Null: without the setting of the package. */
function iniFor({ memoryMb, uploadMb, inputVars }: PhpProcessStart): Record<string, string | null> {
  return {
    memory_limit: `${memoryMb}M`,
    upload_max_filesize: `${uploadMb}M`,
    post_max_size: `${uploadMb + 1}M`,
    // PHP's own timer never fires here: the thread is ended instead.
    max_execution_time: '0',
    max_input_vars: String(inputVars),
    display_errors: '0',
    display_startup_errors: '0',
    html_errors: '0',
    log_errors: '1',
    error_log: '/private/php-error.log',
    expose_php: '0',
    // Side modules may carry JavaScript. There are no programs to run.
    enable_dl: '0',
    disable_functions: 'dl,exec,passthru,popen,proc_open,shell_exec,system',
    'session.save_path': '/tmp',
    upload_tmp_dir: '/tmp',
    sys_temp_dir: '/tmp',
    sendmail_path: '"/usr/sbin/sendmail -t -i"',
    output_buffering: '4096',
    implicit_flush: '0',
    'opcache.file_cache': null,
    'opcache.file_cache_only': '0',
    'opcache.memory_consumption': '64',
    'opcache.max_accelerated_files': '10000',
    'opcache.validate_timestamps': '1',
    'opcache.revalidate_freq': '2',
    // Without the passes that follow data through a script: they take as long as the rest of compiling, and no page of WordPress gets quicker.
    'opcache.optimization_level': '0x1F',
  };
}
