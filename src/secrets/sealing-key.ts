import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  linkSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { type Config, ConfigError } from '../config/config.ts';
import { hasCode } from '../lib/error-code.ts';
import { messageOf } from '../lib/error-message.ts';

const SEALING_KEY_FILE = 'sealing.key';

/** The path of the sealing key: the configured file, or `sealing.key` in the data folder. */
export function sealingKeyFile({ dataDir, sealingKey }: Pick<Config, 'dataDir' | 'sealingKey'>): string {
  return sealingKey ?? join(dataDir, SEALING_KEY_FILE);
}

/**
 * Loads the key that encrypts private keys at rest. The key in the data folder is created on first use; a configured
 * key is only read. Without the key, sealed values are lost. Throws ConfigError.
 */
export function loadSealingKey(config: Pick<Config, 'dataDir' | 'sealingKey'>): Buffer {
  const file = sealingKeyFile(config);
  if (config.sealingKey === null) makeSealingKey(file);
  else requirePrivate(file);
  const key = Buffer.from(readFileSync(file, 'utf8').trim(), 'base64');
  if (key.length !== 32)
    throw new ConfigError(`${file} does not hold a key of 32 bytes; restore it from a backup.`);
  return key;
}

/** A fingerprint of the key, which reveals nothing about it. */
export function sealingKeyFingerprint(key: Buffer): string {
  return createHmac('sha256', key).update('homeport sealing key').digest('hex');
}

/** Reads the key from a file; null if the file does not exist. Throws ConfigError if its content is not a key. */
export function readSealingKey(file: string): Buffer | null {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return null;
    throw error;
  }
  const key = Buffer.from(text.trim(), 'base64');
  if (key.length !== 32) throw new ConfigError(`${file} does not hold a key of 32 bytes.`);
  return key;
}

/** Makes the key appear whole: half of one, after a crash or on a full disk, would have to be restored from a backup. */
function makeSealingKey(file: string): void {
  if (!existsSync(file)) {
    const whole = `${file}.${randomUUID()}`;
    try {
      writeFileSync(whole, randomBytes(32).toString('base64'), { mode: 0o600, flag: 'wx' });
      linkSync(whole, file);
    } catch (error) {
      // Another process may have made it.
      if (!hasCode(error, 'EEXIST')) {
        throw new ConfigError(`The sealing key ${file} cannot be created (${messageOf(error)}).`, {
          cause: error,
        });
      }
    } finally {
      rmSync(whole, { force: true });
    }
  }
  chmodSync(file, 0o600);
}

function requirePrivate(file: string): void {
  const fault = privacyFault(file);
  if (fault !== null) throw new ConfigError(`The key in HOMEPORT_SEALING_KEY_FILE cannot be used: ${fault}.`);
}

function privacyFault(file: string): string | null {
  try {
    accessSync(file, constants.R_OK);
    return (statSync(file).mode & 0o077) === 0
      ? null
      : `other users have access to ${file}; run chmod 600 on it`;
  } catch (error) {
    return `${file} cannot be read (${messageOf(error)})`;
  }
}
