import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import Type from 'typebox';
import { Value } from 'typebox/value';
import { writeDurably } from '../../../lib/durable-file.ts';
import { ifThere } from '../../../lib/if-there.ts';

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

/** Ends an upgrade: first its state, so that a kill leaves files that the next upgrade removes. */
export async function endUpgrade(paths = upgradePaths()): Promise<void> {
  await rm(paths.state, { force: true });
  await rm(paths.folder, { recursive: true, force: true });
}
