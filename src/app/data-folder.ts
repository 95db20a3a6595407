import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigError } from '../config/config.ts';
import { messageOf } from '../lib/error-message.ts';

/** Creates the data folder with access for its owner only. Throws ConfigError if it cannot be used. */
export function prepareDataFolder(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    const probe = join(path, '.writable');
    writeFileSync(probe, '', { mode: 0o600 });
  } catch (error) {
    throw new ConfigError(
      `The data folder ${path} cannot be used (${messageOf(error)}). ` +
        'Make it readable and writable for this user, or name another one in HOMEPORT_DATA_DIR.',
    );
  }
}
