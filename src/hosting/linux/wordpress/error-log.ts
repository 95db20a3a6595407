import { fatalsIn } from '../../wordpress/fatal-errors.ts';
import { foldersOf, type SandboxedInstall } from '../isolation/sandbox.ts';
import type { LinuxLayout } from '../machine/layout.ts';
import { ERROR_LOG } from '../php/fpm-config.ts';
import { pinFolder } from './pinned-folder.ts';

const LARGEST_BYTES = 16 * 1024 * 1024;

/**
 * Renames PHP's error log to `php-error.log.1`, in place of an earlier one, if it is larger than 16 MiB. Visitors can make a faulty
 * website write errors. PHP opens the log for each error, so it continues in a new file.
 */
export async function rotateErrorLog(
  layout: LinuxLayout,
  install: Pick<SandboxedInstall, 'id' | 'home'>,
): Promise<void> {
  const folder = await pinFolder(foldersOf(layout, install).private);
  try {
    const size = await folder.size(ERROR_LOG);
    if (size !== null && size > LARGEST_BYTES) await folder.rename(ERROR_LOG, `${ERROR_LOG}.1`);
  } finally {
    await folder.close();
  }
}

/** Of the log, the part in which fatal errors are looked for. */
const NEWEST_BYTES = 64 * 1024;

/** The latest fatal errors in PHP's log, oldest first: without their times, with file and line. */
export async function newestFatals(
  layout: LinuxLayout,
  install: Pick<SandboxedInstall, 'id' | 'home'>,
): Promise<string[]> {
  const folder = await pinFolder(foldersOf(layout, install).private);
  try {
    const text = (await folder.end(ERROR_LOG, NEWEST_BYTES)) ?? '';
    return fatalsIn(text);
  } finally {
    await folder.close();
  }
}
