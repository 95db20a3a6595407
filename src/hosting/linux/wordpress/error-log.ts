import { pinFolder } from '../../runtime/linux/pinned-folder.ts';
import { foldersOf, type SandboxedInstall } from '../isolation/sandbox.ts';
import type { LinuxLayout } from '../machine/layout.ts';
import { ERROR_LOG } from '../php/fpm-config.ts';

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
