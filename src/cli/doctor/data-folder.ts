import { randomUUID } from 'node:crypto';
import { closeSync, openSync, type Stats, statfsSync, statSync, unlinkSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf } from '../../lib/error-code.ts';
import { shownBytes } from '../terminal/output.ts';
import { type Finding, ok, problem, reasonOf, warning } from './finding.ts';
import { GROUP, OTHERS, octal } from './permissions.ts';

const CHECK = 'data folder';
const SPACE = 'disk space';
/** With less space, backups and uploads may fail. */
const LOW_SPACE = 1_000_000_000;
/** With less space, the database may fail. */
const NO_SPACE = 100_000_000;
const LOW_SHARE = 0.05;

/** Checks that the data folder exists, is private and writable, and has space. */
export function checkDataFolder(dataDir: string): Finding[] {
  let folder: Stats;
  try {
    folder = statSync(dataDir);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') {
      return [
        warning(
          CHECK,
          `${dataDir} does not exist yet.`,
          'Start Homeport once ("homeport serve"), or name the folder in HOMEPORT_DATA_DIR.',
        ),
      ];
    }
    return [unusable(dataDir, reasonOf(error))];
  }
  if (!folder.isDirectory()) return [unusable(dataDir, 'it is not a folder')];
  return [checkAccess(dataDir, folder.mode), checkSpace(dataDir)];
}

function checkAccess(dataDir: string, mode: number): Finding {
  const probe = join(dataDir, `.doctor-${randomUUID()}`);
  try {
    const file = openSync(probe, 'wx', 0o600);
    try {
      writeSync(file, 'can this be written?');
    } finally {
      closeSync(file);
      unlinkSync(probe);
    }
  } catch (error) {
    return judgeWriting(dataDir, error);
  }
  if ((mode & OTHERS) !== 0) {
    return problem(
      CHECK,
      `All users of this machine can read ${dataDir} (mode ${octal(mode)}).`,
      `chmod 700 ${dataDir}`,
    );
  }
  if ((mode & GROUP) !== 0) {
    return warning(
      CHECK,
      `The group of ${dataDir} has access (mode ${octal(mode)}).`,
      `chmod 700 ${dataDir}`,
    );
  }
  return ok(CHECK, `${dataDir} is writable and private.`);
}

/** The reason why the folder is not writable. */
export function judgeWriting(dataDir: string, error: unknown): Finding {
  const code = codeOf(error);
  return code === 'ENOSPC' || code === 'EDQUOT'
    ? problem(CHECK, `${dataDir} is not writable: ${reasonOf(error)}.`, makeRoom(dataDir))
    : unusable(dataDir, reasonOf(error));
}

function unusable(dataDir: string, reason: string): Finding {
  return problem(
    CHECK,
    `${dataDir} cannot be used: ${reason}.`,
    'Make it readable and writable for this user, or name another one in HOMEPORT_DATA_DIR.',
  );
}

function checkSpace(dataDir: string): Finding {
  const { bavail, blocks, bsize } = statfsSync(dataDir);
  return judgeSpace(bavail * bsize, blocks * bsize, dataDir);
}

/** Both in bytes. */
export function judgeSpace(free: number, size: number, dataDir: string): Finding {
  const remedy = makeRoom(dataDir);
  const left = `${shownBytes(free)} of ${shownBytes(size)} are free`;
  if (free < NO_SPACE) return problem(SPACE, `Only ${left}.`, remedy);
  if (free < LOW_SPACE || free < size * LOW_SHARE) return warning(SPACE, `Only ${left}.`, remedy);
  return ok(SPACE, `${left}.`);
}

function makeRoom(dataDir: string): string {
  return `Make room on the disk of ${dataDir}; old backups are below host/snapshots.`;
}
