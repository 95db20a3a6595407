import { constants } from 'node:fs';
import { lstat, realpath } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { hasCode } from '../../../lib/error-code.ts';
import { ifThere } from '../../../lib/if-there.ts';
import { openContained } from '../../embedded/host-folder/contained-file.ts';
import type { ErrorLog, Files, InstallRuntime, Programs, Records, ScriptEnd, ScriptRun } from '../runtime.ts';
import { libraryProgram, libraryScript } from './library-script.ts';
import { PhpFailure, type PhpFailureReason, type PhpSite, type PhpSites } from './php-sites.ts';
import { ERROR_LOG } from './process/error-log.ts';

interface WasmWebsite {
  php: Pick<PhpSites, 'run' | 'runProgram'>;
  /** The website as PHP gets it. Rejects if a part of it is missing. */
  site(): Promise<PhpSite>;
  /** `https://example.com`, with the port unless it is the default. */
  origin: string;
  folders: WasmFolders;
}

export interface WasmFolders {
  root: string;
  /** In the document root, so the website can replace it. */
  private: string;
  /** Of its logs, outside of what its PHP reaches. */
  logs: string;
}

const MOST_STDERR = 64 * 1024;

/** The script itself exceeded a limit. The other reasons are the machine's. */
const EXCEEDED: ReadonlySet<PhpFailureReason> = new Set(['timeout', 'memory', 'failed', 'too_large']);

/**
 * The runtime of a website whose PHP is WebAssembly, in a separate process. A script has the memory of a page and takes one of the
 * website's threads; one whose output is followed has a thread of its own.
 */
export function wasmRuntime({ folders, ...website }: WasmWebsite): InstallRuntime {
  return { ...wasmFiles(folders), ...wasmPrograms(website) };
}

/** The programs alone, for a website whose files are not read. */
export function wasmPrograms({ php, site, origin }: Omit<WasmWebsite, 'folders'>): Programs {
  async function follow(
    run: ScriptRun,
    take: NonNullable<ScriptRun['take']>,
    signal: AbortSignal | undefined,
  ): Promise<ScriptEnd> {
    let stderr = '';
    const late = AbortSignal.timeout(run.timeoutMs);
    try {
      const exit = await php.runProgram(
        await site(),
        libraryProgram(run),
        {
          stdout: take,
          stderr(chunk) {
            stderr = (stderr + chunk.toString('utf8')).slice(-MOST_STDERR);
          },
        },
        signal === undefined ? late : AbortSignal.any([signal, late]),
      );
      return { stdout: '', stderr, exit };
    } catch (error) {
      if (!late.aborted || signal?.aborted) throw error;
      return {
        stdout: '',
        stderr: `the script did not end within ${run.timeoutMs / 1_000} seconds`,
        exit: null,
      };
    }
  }

  return {
    async runScript(run, signal): Promise<ScriptEnd> {
      signal?.throwIfAborted();
      try {
        const { take } = run;
        if (take !== undefined) return await follow(run, take, signal);
        const { output, error, exit } = await php.run(await site(), libraryScript(run, origin), signal);
        return { stdout: output, stderr: error, exit };
      } catch (error) {
        signal?.throwIfAborted();
        if (!(error instanceof PhpFailure) || !EXCEEDED.has(error.reason)) throw error;
        return { stdout: '', stderr: error.message, exit: null };
      }
    },
  };
}

/** The files alone, which need no PHP. */
export function wasmFiles(folders: WasmFolders): Files {
  return {
    async changedAt(folder, path, names) {
      let at = folders[folder];
      for (const name of ['', ...path]) {
        at = join(at, name);
        if ((await entryAt(at))?.isDirectory() !== true) return names.map(() => null);
      }
      // A website that puts a link there meanwhile learns nothing: texts of times are compared and never shown.
      return Promise.all(
        names.map(async (name) => (await entryAt(join(at, name)))?.mtimeNs.toString() ?? null),
      );
    },
    endOfErrorLog: (bytes) => endOfErrorLog(folders, bytes),
  };
}

/** The logs, which need no PHP either. */
export function wasmRecords(folders: WasmFolders): Records {
  return { logs: folders.logs, openErrorLog: (which) => openErrorLog(folders, which) };
}

/** A website may put anything in the place of its log, or of the folder. */
async function openErrorLog(folders: WasmFolders, which: ErrorLog) {
  const name = which === 'present' ? ERROR_LOG : `${ERROR_LOG}.1`;
  try {
    const root = await realpath(folders.root);
    return await openContained(join(root, relative(folders.root, folders.private), name), constants.O_RDONLY);
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ELOOP', 'ENXIO', 'ENOTDIR', 'EISDIR', 'ENOTCONTAINED')) return null;
    throw error;
  }
}

async function endOfErrorLog(folders: WasmFolders, bytes: number): Promise<string> {
  const log = await openErrorLog(folders, 'present');
  if (log === null) return '';
  try {
    const stats = await log.stat();
    if (!stats.isFile()) return '';
    const { size } = stats;
    const start = Math.max(0, size - bytes);
    const { buffer, bytesRead } = await log.read(Buffer.alloc(size - start), 0, size - start, start);
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await log.close();
  }
}

async function entryAt(path: string) {
  try {
    return await ifThere(lstat(path, { bigint: true }));
  } catch (error) {
    if (hasCode(error, 'ENOTDIR', 'ELOOP')) return null;
    throw error;
  }
}
