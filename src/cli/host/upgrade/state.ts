import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import Type from 'typebox';
import { Value } from 'typebox/value';
import { withFileLock } from '../../../hosting/linux/isolation/file-lock.ts';
import { writeDurably } from '../../../lib/durable-file.ts';
import { messageOf } from '../../../lib/error-message.ts';
import { ifThere } from '../../../lib/if-there.ts';
import { OperatorError } from '../../../lib/operator-error.ts';

/** Of root. It has the packages of an upgrade and its state, until the upgrade ends. */
export const UPGRADE_FOLDER = '/var/lib/homeport-upgrade';

export const upgradePaths = (folder = UPGRADE_FOLDER) => ({
  folder,
  state: join(folder, 'state.json'),
  /** Files of the former package, whose program goes on with the upgrade while dpkg replaces the installed one. */
  tree: join(folder, 'former'),
  packages: join(folder, 'packages'),
});

const Side = Type.Object({ version: Type.String(), file: Type.String() });
const UpgradeState = Type.Object({
  /** What is to be done, or to be done again. */
  step: Type.Union([Type.Literal('install'), Type.Literal('return')]),
  former: Side,
  next: Side,
  /** The newest migration of the former version. */
  schema: Type.String(),
  /** Services that ran before, and have to run afterwards. */
  services: Type.Array(Type.String()),
  /** systemd's ids of the starts of these services before the upgrade. */
  starts: Type.Array(Type.String()),
});

/** An upgrade that has begun to change the machine. */
export type UpgradeState = Type.Static<typeof UpgradeState>;

/** Null if no upgrade is unfinished. */
export async function readUpgradeState(paths = upgradePaths()): Promise<UpgradeState | null> {
  const text = await ifThere(readFile(paths.state, 'utf8'));
  return text === null ? null : Value.Parse(UpgradeState, JSON.parse(text));
}

export async function writeUpgradeState(state: UpgradeState, paths = upgradePaths()): Promise<void> {
  await mkdir(paths.folder, { recursive: true, mode: 0o755 });
  await writeDurably(paths.state, `${JSON.stringify(state)}\n`);
}

const LOCK = '/run/homeport-upgrade.lock';

/** Does a part of an upgrade, unless another process does one. It may go on although its terminal was lost. Throws OperatorError. */
export async function aloneUpgrading<Result>(work: () => Promise<Result>, file = LOCK): Promise<Result> {
  let isAlone = false;
  const begin = () => {
    isAlone = true;
    return work();
  };
  try {
    return await withFileLock(file, begin, 0);
  } catch (cause) {
    if (isAlone || !messageOf(cause).includes('another process has held it')) throw cause;
    throw new OperatorError(
      'Another "homeport upgrade" runs on this machine, perhaps one whose terminal was lost. Wait until it has ended, then run this again. Nothing was changed here.',
      { cause },
    );
  }
}

/** The next step of an upgrade. */
export type Course = 'install' | 'return' | 'look' | 'forget';

/**
 * How to go on with an upgrade. A return puts back a database, so it must never follow a time in which another version has served:
 * an upgrade may have been interrupted weeks ago.
 */
export function courseOf(
  { step, former, next }: Pick<UpgradeState, 'step' | 'former' | 'next'>,
  {
    installed,
    isReturning,
    hasServed,
  }: {
    /** The version of the installed package. */
    installed: string;
    /** Whether the request for the return is there. No version but the former one serves beside it. */
    isReturning: boolean;
    /** Whether a server was ready since the database was copied. */
    hasServed: boolean;
  },
): Course {
  if (isReturning) return 'return';
  if (installed !== former.version && installed !== next.version) return 'forget';
  return installed === next.version && hasServed ? 'look' : step;
}

/** Ends an upgrade: first its state, so that a kill leaves files that the next upgrade removes. */
export async function endUpgrade(paths = upgradePaths()): Promise<void> {
  await rm(paths.state, { force: true });
  await rm(paths.folder, { recursive: true, force: true });
}
