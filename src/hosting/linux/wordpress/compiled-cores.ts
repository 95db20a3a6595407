import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Logger } from 'pino';
import { serializeByKey } from '../../../lib/concurrency.ts';
import { syncFolder } from '../../../lib/durable-file.ts';
import { hasCode } from '../../../lib/error-code.ts';
import { ifThere } from '../../../lib/if-there.ts';
import { runCommand } from '../../../lib/run-command.ts';
import { runPhp } from '../../runtime/linux/run-php.ts';
import { requireCore } from '../../wordpress/core-tree.ts';
import { phpFileOf } from '../../wordpress/php-files.ts';
import { makeHome } from '../isolation/folders.ts';
import { foldersOf, type SandboxedInstall } from '../isolation/sandbox.ts';
import type { UnixUsers } from '../isolation/unix-users.ts';
import type { LinuxLayout } from '../machine/layout.ts';
import type { PhpRuntime } from '../machine/php-runtimes.ts';
import { createScratchWebsites } from './scratch-website.ts';

/**
 * Cores compiled by PHP, which websites read instead of compiling WordPress themselves at their start. They belong to root and
 * are read-only. A scratch website compiles them, and runs only WordPress's own code.
 */
export interface CompiledCores {
  /** Compiles a core of this host with a PHP version, unless done, and removes the code of earlier builds of either. */
  ensure(php: PhpRuntime, wordpressVersion: string): Promise<void>;
  /**
   * The folder of the compiled code, which PHP names after its build ({@link SandboxedInstall.compiledCore}). Null if there is
   * none for the current PHP and core.
   */
  find(php: PhpRuntime, wordpressVersion: string): Promise<string | null>;
}

/** For hosts that make few pages: they compile no core, and without compiled code websites compile WordPress themselves. */
export const onlyFound = ({ find }: CompiledCores): CompiledCores => ({ ensure: async () => {}, find });

export interface CompiledCoresOptions {
  layout: LinuxLayout;
  users: UnixUsers;
  log: Logger;
}

/** PHP's name for the folder of its build: zend_system_id. */
const SYSTEM_ID = /^[0-9a-f]{32}$/;

export function createCompiledCores({ layout, users, log }: CompiledCoresOptions): CompiledCores {
  const serial = serializeByKey();
  const scratch = createScratchWebsites({ layout, users, kind: 'compile' });

  async function find(php: PhpRuntime, wordpressVersion: string): Promise<string | null> {
    const folder = await folderOf(php, wordpressVersion);
    const systemId = folder === null ? undefined : (await namesIn(folder)).find(isSystemId);
    return folder === null || systemId === undefined ? null : join(folder, systemId);
  }

  async function folderOf(php: PhpRuntime, wordpressVersion: string): Promise<string | null> {
    const build = await buildOf(php, layout.coreOf(wordpressVersion));
    return build === null ? null : join(layout.compiled, kindOf(php, wordpressVersion) + build);
  }

  async function ensure(php: PhpRuntime, wordpressVersion: string): Promise<void> {
    if ((await find(php, wordpressVersion)) !== null) return;
    await requireCore(layout.coreOf(wordpressVersion));
    const folder = await folderOf(php, wordpressVersion);
    if (folder === null) throw new Error(`PHP ${php.version} is missing`);
    const started = performance.now();
    const files = await scratch.use({ php, wordpressVersion }, (install) => make(install, folder));
    await removeOthers(folder, kindOf(php, wordpressVersion));
    log.info(
      { version: wordpressVersion, php: php.version, files, ms: Math.round(performance.now() - started) },
      `WordPress ${wordpressVersion} compiled for PHP ${php.version}`,
    );
  }

  /** Returns the number of compiled files. */
  async function make(install: SandboxedInstall, folder: string): Promise<number> {
    await makeHome(layout, install);
    const { private: written } = foldersOf(layout, install);
    const files = await runPhp(layout, install, {
      script: phpFileOf(layout.coreOf(install.wordpressVersion), 'compile.php'),
      settings: {
        'opcache.enable_cli': 1,
        'opcache.file_cache': written,
        'opcache.file_cache_only': 1,
        // PHP skips files changed in the last seconds, but a core that was just added is complete.
        'opcache.file_update_protection': 0,
      },
      // The extensions of PHP-FPM are part of its build.
      environment: { PHP_INI_SCAN_DIR: `/etc/php/${install.php.version}/fpm/conf.d` },
    });
    await place(written, folder);
    return Number(files);
  }

  /** Moves the code into place in one rename, after it is on the disk and belongs to root. */
  async function place(written: string, folder: string): Promise<void> {
    const systemId = (await namesIn(written)).find(isSystemId);
    if (systemId === undefined) throw new Error('PHP has written no compiled code');
    const aside = join(layout.scratch, `compiled-${randomUUID()}`);
    await mkdir(aside, { recursive: true, mode: 0o700 });
    try {
      await rename(join(written, systemId), join(aside, systemId));
      await runCommand('chown', ['--recursive', '--no-dereference', 'root:root', aside]);
      await runCommand('chmod', ['--recursive', 'u=rwX,go=rX', aside]);
      await runCommand('sync', ['--file-system', aside]);
      await mkdir(layout.compiled, { recursive: true, mode: 0o755 });
      await rm(folder, { recursive: true, force: true });
      await rename(aside, folder);
      await syncFolder(dirname(folder));
    } finally {
      await rm(aside, { recursive: true, force: true });
    }
  }

  /** Websites that still read the removed code compile for themselves. */
  async function removeOthers(folder: string, kind: string): Promise<void> {
    for (const name of await namesIn(layout.compiled)) {
      const other = join(layout.compiled, name);
      if (name.startsWith(kind) && other !== folder) await rm(other, { recursive: true, force: true });
    }
  }

  return { find, ensure: (php, version) => serial('compile', () => ensure(php, version)) };
}

function kindOf(php: PhpRuntime, wordpressVersion: string): string {
  return `${wordpressVersion}-php${php.version}-`;
}

/**
 * Identifies a build of PHP together with a copy of a core. PHP itself rejects code compiled by another PHP version, and code
 * of a file with another date. Null if PHP or the core is missing.
 */
async function buildOf(php: PhpRuntime, core: string): Promise<string | null> {
  const paths = [join(php.root, php.fpm), core, dirname(phpFileOf(core, 'compile.php'))];
  try {
    const marks = await Promise.all(paths.map(markOf));
    const text = JSON.stringify([marks, php.root, php.modules]);
    return createHash('sha256').update(text).digest('hex').slice(0, 16);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null;
    throw error;
  }
}

async function markOf(path: string): Promise<string> {
  const { ino, size, mtimeMs } = await stat(path);
  return `${ino} ${size} ${mtimeMs}`;
}

function isSystemId(name: string): boolean {
  return SYSTEM_ID.test(name);
}

async function namesIn(folder: string): Promise<string[]> {
  return (await ifThere(readdir(folder))) ?? [];
}
