import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Logger } from 'pino';
import { serializeByKey } from '../../../lib/concurrency.ts';
import { syncFolder } from '../../../lib/durable-file.ts';
import { hasCode } from '../../../lib/error-code.ts';
import { ifThere } from '../../../lib/if-there.ts';
import { makeHome } from '../isolation/folders.ts';
import { foldersOf, type SandboxedInstall } from '../isolation/sandbox.ts';
import type { UnixUsers } from '../isolation/unix-users.ts';
import type { LinuxLayout } from '../machine/layout.ts';
import type { PhpRuntime } from '../machine/php-runtimes.ts';
import { runCommand } from '../machine/run-command.ts';
import { requireCore } from './core-tree.ts';
import { phpFileOf } from './php-files.ts';
import { runPhp } from './run-php.ts';
import { createScratchWebsites } from './scratch-website.ts';

/**
 * The cores as PHP has compiled them, for the PHP of each website to read, so that none of them compiles WordPress for itself
 * when it starts. They are root's and read-only, and made by a website that exists for a moment: what runs is WordPress's own.
 */
export interface CompiledCores {
  /** Compiles a core of this host with a PHP, unless that is done; what an earlier build of both has made goes. */
  ensure(php: PhpRuntime, wordpressVersion: string): Promise<void>;
  /**
   * The folder of the compiled code, which PHP has named by its own build ({@link SandboxedInstall.compiledCore}); null if none
   * was made with PHP and core as they are now.
   */
  find(php: PhpRuntime, wordpressVersion: string): Promise<string | null>;
}

export interface CompiledCoresOptions {
  layout: LinuxLayout;
  users: UnixUsers;
  log: Logger;
}

/** How PHP names the folder of its build: zend_system_id. */
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
    if (folder === null) throw new Error(`PHP ${php.version} is gone`);
    const started = performance.now();
    const files = await scratch.use({ php, wordpressVersion }, (install) => make(install, folder));
    await removeOthers(folder, kindOf(php, wordpressVersion));
    log.info(
      { version: wordpressVersion, php: php.version, files, ms: Math.round(performance.now() - started) },
      `WordPress ${wordpressVersion} compiled for PHP ${php.version}`,
    );
  }

  /** Gives how many files were compiled. */
  async function make(install: SandboxedInstall, folder: string): Promise<number> {
    await makeHome(layout, install);
    const { private: written } = foldersOf(layout, install);
    const files = await runPhp(layout, install, {
      script: phpFileOf(layout.coreOf(install.wordpressVersion), 'compile.php'),
      settings: {
        'opcache.enable_cli': 1,
        'opcache.file_cache': written,
        'opcache.file_cache_only': 1,
        // A core that was added just now is whole all the same.
        'opcache.file_update_protection': 0,
      },
      // The extensions that PHP-FPM has are part of what its build is.
      environment: { PHP_INI_SCAN_DIR: `/etc/php/${install.php.version}/fpm/conf.d` },
    });
    await place(written, folder);
    return Number(files);
  }

  /** By one rename, when everything is on the disk and root's. */
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

  /** Websites that read it still compile for themselves from then on. */
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
 * Tells one build of PHP, and one copy of a core, from the next of the same version. PHP itself refuses what another version of
 * it has compiled, and code whose file has another date; null if one of both is gone.
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
