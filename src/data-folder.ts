import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigError } from './config.ts';

/** Makes the data folder, for nobody else to read, or says why it cannot be used. Throws ConfigError. */
export function prepareDataFolder(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    const probe = join(path, '.writable');
    writeFileSync(probe, '', { mode: 0o600 });
  } catch (error) {
    throw new ConfigError(
      `The data folder ${path} cannot be used (${error instanceof Error ? error.message : error}). ` +
        'Make it readable and writable for this user, or name another one in HOMEPORT_DATA_DIR.',
    );
  }
}

export const SEALING_KEY_FILE = 'sealing.key';

/** The key that private keys are encrypted with at rest; made at first use. Losing it loses them. */
export function loadSealingKey(dataDir: string): Buffer {
  const file = join(dataDir, SEALING_KEY_FILE);
  try {
    writeFileSync(file, randomBytes(32).toString('base64'), { mode: 0o600, flag: 'wx' });
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
  chmodSync(file, 0o600);
  const key = Buffer.from(readFileSync(file, 'utf8').trim(), 'base64');
  if (key.length !== 32)
    throw new ConfigError(`${file} does not hold a key of 32 bytes; restore it from a backup.`);
  return key;
}
