import { readFileSync, statSync } from 'node:fs';
import type { Config } from '../../config/config.ts';
import type { Database } from '../../database/database.ts';
import { codeOf } from '../../lib/error-code.ts';
import { createSealer } from '../../secrets/sealer.ts';
import { sealingKeyFile } from '../../secrets/sealing-key.ts';
import { type Finding, ok, problem, reasonOf } from './finding.ts';
import { GROUP, OTHERS, octal } from './permissions.ts';

const CHECK = 'sealing key';
const KEY_BYTES = 32;
const FROM_BACKUP = {
  own: 'Restore the file from the backup of the data folder. Sealed keys cannot be opened without it.',
  configured: 'Restore the file from your backup. Sealed keys cannot be opened without it.',
};

/** Checks that the sealing key exists, is private, and opens the keys in the database. */
export async function checkSealingKey(
  config: Pick<Config, 'dataDir' | 'sealingKey'>,
  database: Database | null,
): Promise<Finding> {
  const file = sealingKeyFile(config);
  const fromBackup = FROM_BACKUP[config.sealingKey === null ? 'own' : 'configured'];
  const sealed = database === null ? undefined : await anySealed(database);
  let key: Buffer;
  let mode: number;
  try {
    key = Buffer.from(readFileSync(file, 'utf8').trim(), 'base64');
    mode = statSync(file).mode;
  } catch (error) {
    if (codeOf(error) !== 'ENOENT' && codeOf(error) !== 'ENOTDIR') {
      return problem(
        CHECK,
        `${file} cannot be read: ${reasonOf(error)}.`,
        'Make it readable for this user only.',
      );
    }
    return sealed === undefined
      ? missing(config)
      : problem(
          CHECK,
          `${file} is missing, and private keys in the database are sealed with it.`,
          fromBackup,
        );
  }
  if (key.length !== KEY_BYTES) return problem(CHECK, `${file} does not hold a key of 32 bytes.`, fromBackup);
  if ((mode & (GROUP | OTHERS)) !== 0) {
    return problem(CHECK, `Other users have access to ${file} (mode ${octal(mode)}).`, `chmod 600 ${file}`);
  }
  if (sealed === undefined) return ok(CHECK, 'It exists and is private.');
  try {
    createSealer(key).open(sealed);
    return ok(CHECK, 'It opens the private keys in the database and is private.');
  } catch {
    return problem(
      CHECK,
      `${file} is not the key that the private keys in the database were sealed with.`,
      fromBackup,
    );
  }
}

/** The first start creates the default key, but never a configured one. */
function missing({ sealingKey }: Pick<Config, 'sealingKey'>): Finding {
  if (sealingKey === null) return ok(CHECK, 'The first start creates it.');
  return problem(
    CHECK,
    `The file in HOMEPORT_SEALING_KEY_FILE does not exist: ${sealingKey}.`,
    'Create it with 32 bytes in base64 ("openssl rand -base64 32"), readable for this user only.',
  );
}

/**
 * The oldest of them: if the key was replaced, that is the one it does not open. A renewed certificate keeps its `seq`,
 * but not its time.
 */
async function anySealed({ reader }: Database): Promise<string | undefined> {
  const row = await reader
    .selectFrom('certificates')
    .select('sealed_key')
    .orderBy('created_at')
    .orderBy('seq')
    .limit(1)
    .executeTakeFirst();
  return row?.sealed_key;
}
