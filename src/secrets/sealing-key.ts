import { createHmac, randomBytes } from 'node:crypto';
import { accessSync, chmodSync, constants, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Config, ConfigError } from '../config/config.ts';
import { hasCode } from '../lib/error-code.ts';
import { messageOf } from '../lib/error-message.ts';

const SEALING_KEY_FILE = 'sealing.key';

/** Where the key is that private keys are encrypted with at rest. */
export function sealingKeyFile({ dataDir, sealingKey }: Pick<Config, 'dataDir' | 'sealingKey'>): string {
  return sealingKey ?? join(dataDir, SEALING_KEY_FILE);
}

/**
 * The key that private keys are encrypted with at rest. The one in the data folder is made at first use; one that is
 * configured is the operator's own, and is only read. Losing it loses what was sealed with it. Throws ConfigError.
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

/** Tells keys apart without giving anything of them away. */
export function sealingKeyFingerprint(key: Buffer): string {
  return createHmac('sha256', key).update('homeport sealing key').digest('hex');
}

/** The key in a file; null if there is none. Throws ConfigError if the file holds none. */
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

function makeSealingKey(file: string): void {
  try {
    writeFileSync(file, randomBytes(32).toString('base64'), { mode: 0o600, flag: 'wx' });
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
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
      : `others than its owner have access to ${file}; chmod 600 mends that`;
  } catch (error) {
    return `${file} cannot be read (${messageOf(error)})`;
  }
}
