import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigError } from '../config/config.ts';
import { createFolders } from '../lib/create-folders.ts';
import { hasCode } from '../lib/error-code.ts';
import { messageOf } from '../lib/error-message.ts';

/** Creates the data folder with access for its owner only. Throws ConfigError if it cannot be used. */
export function prepareDataFolder(path: string): void {
  try {
    createFolders(path, 0o700);
    const probe = join(path, '.writable');
    // Empty, because commands that make room must run on a full disk.
    writeFileSync(probe, '', { mode: 0o600 });
    rmSync(probe, { force: true });
  } catch (error) {
    throw new ConfigError(
      `The data folder ${path} cannot be used (${messageOf(error)}). ${remedyOf(error)}, or name another one in HOMEPORT_DATA_DIR.`,
      { cause: error },
    );
  }
}

function remedyOf(error: unknown): string {
  if (hasCode(error, 'ENOSPC', 'EDQUOT')) return 'Make room on its disk';
  return 'Make it a folder that this user can read and write';
}
