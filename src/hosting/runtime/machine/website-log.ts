import { constants } from 'node:fs';
import { type FileHandle, open, rename } from 'node:fs/promises';
import { hasCode } from '../../../lib/error-code.ts';
import { ERROR_LOG, LONGEST_LOG, logLine } from '../wasm/process/error-log.ts';

const APPEND =
  constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const MODE = 0o600;

/** PHP's error log, which the website can replace by anything at any time. */
export interface WebsiteLog {
  add(text: string, now: Date): Promise<void>;
  /** Puts a log aside that is long enough, as it does in WebAssembly with each entry. */
  shorten(): Promise<void>;
}

/** `folder`: the open private folder. Paths below its descriptor lead nowhere else. */
export function websiteLog(folder: FileHandle): WebsiteLog {
  const path = `/proc/self/fd/${folder.fd}/${ERROR_LOG}`;

  async function withLog(use: (log: FileHandle, size: number) => Promise<void>): Promise<void> {
    let log: FileHandle;
    try {
      log = await open(path, APPEND, MODE);
    } catch (error) {
      if (hasCode(error, 'ELOOP', 'ENXIO', 'EISDIR', 'ENOENT')) return;
      throw error;
    }
    try {
      const stats = await log.stat();
      if (stats.isFile()) await use(log, stats.size);
    } finally {
      await log.close();
    }
  }

  return {
    add: (text, now) =>
      withLog(async (log) => {
        await log.write(logLine(text, now));
      }),
    shorten: () =>
      withLog(async (log, size) => {
        if (size < LONGEST_LOG) return;
        try {
          await rename(path, `${path}.1`);
        } catch (error) {
          // The website has something else in the place of the former log.
          if (!hasCode(error, 'EISDIR', 'EEXIST', 'ENOTEMPTY')) throw error;
          await log.truncate();
        }
      }),
  };
}
