import fs, { constants } from 'node:fs';
import { openExact } from './exact-file.ts';

/** PHP's errors, in the private folder of a website. */
export const ERROR_LOG = 'php-error.log';
/** Of the log, and of the one before it. */
export const LONGEST_LOG = 8 * 1024 * 1024;
/** Of one entry. Its end is dropped. */
export const LONGEST_ENTRY = 64 * 1024;

const APPEND = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT;
const MODE = 0o600;
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/**
 * Opens the log for one entry, as PHP does. A log that is long enough becomes `php-error.log.1`, in place of the one before, so a website
 * that logs endlessly does not fill the disk. Two threads that do so within microseconds can lose what is in `php-error.log.1`. A lock
 * would not be better: the website could leave one behind, and then its log would grow.
 */
export function openErrorLog(path: string): number {
  const fd = openExact(path, APPEND, MODE);
  const { size, ino } = fs.fstatSync(fd);
  if (size < LONGEST_LOG) return fd;
  try {
    // Unless another thread has put it aside before.
    if (fs.lstatSync(path).ino === ino) fs.renameSync(path, `${path}.1`);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'EISDIR' || code === 'EEXIST' || code === 'ENOTEMPTY') {
      // The website has something else in the place of the former log.
      fs.ftruncateSync(fd);
    } else if (code !== 'ENOENT') throw error;
    // Otherwise another thread has put it aside: it is the former log now.
  } finally {
    fs.closeSync(fd);
  }
  return openExact(path, APPEND, MODE);
}

/** Adds a line in the form of PHP's own. */
export function addToErrorLog(path: string, text: string, now: Date): void {
  const fd = openErrorLog(path);
  try {
    fs.writeSync(fd, logLine(text, now));
  } finally {
    fs.closeSync(fd);
  }
}

/** A line in the form of PHP's own. */
export const logLine = (text: string, now: Date): string =>
  `[${stamp(now)}] ${text.replace(/\p{Cc}/gu, ' ').slice(0, 2_000)}\n`;

function stamp(now: Date): string {
  const [date = '', time = ''] = now.toISOString().split('T');
  const [year, , day] = date.split('-');
  return `${day}-${MONTHS[now.getUTCMonth()]}-${year} ${time.slice(0, 8)} UTC`;
}
