import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { OperatorError } from '../../../lib/operator-error.ts';
import { PROGRAM_FOLDER } from '../../../lib/own-command.ts';
import { CommandError, runCommand } from '../../../lib/run-command.ts';

export const PACKAGE = 'homeport';
/** A variable for the package's script: "homeport upgrade" watches the services, so the script does not wait for them. */
export const WATCHED = 'UPGRADING_HOMEPORT';

/** Unpacking and compressing take minutes on a slow machine. */
export const SLOW_MS = 1_800_000;

/** A package, installed or in a file. */
export interface PackageFacts {
  /** As Debian writes it: `0.4.0~dev`. */
  version: string;
  architecture: string;
  /** The newest migration that the program knows; empty if the package does not say. */
  schema: string;
  /** Bytes on the disk. */
  installedBytes: number;
}

const FIELDS = ['Package', 'Version', 'Architecture', 'Homeport-Schema', 'Installed-Size'];
const FORMAT = FIELDS.map((field) => `\${${field}}\\n`).join('');

/** The installed package; null if this program is not from it. */
export async function installedPackage(root: string): Promise<PackageFacts | null> {
  if (realpathSync(root) !== PROGRAM_FOLDER) return null;
  try {
    return factsIn((await runCommand('dpkg-query', ['--show', `--showformat=${FORMAT}`, PACKAGE])).stdout);
  } catch (error) {
    if (error instanceof CommandError) return null;
    throw error;
  }
}

/**
 * Throws OperatorError unless dpkg has finished the installed package. An upgrade keeps its files for the return, and after an interrupted
 * unpacking they are a mixture of two versions. `environment`: of dpkg.
 */
export async function requireWhole(environment: Record<string, string> = {}): Promise<void> {
  const words = ['--show', `--showformat=\${db:Status-Status}`, PACKAGE];
  const { stdout: status } = await runCommand('dpkg-query', words, { environment });
  if (status === 'installed') return;
  const remedy =
    status === 'half-installed'
      ? 'Its files are of two versions. Install one of them again first: dpkg --install FILE'
      : 'Let dpkg finish first: dpkg --configure --pending';
  throw new OperatorError(`The package is ${status}, because dpkg was interrupted or failed. ${remedy}`);
}

/** Null for a file that is no package of Homeport. */
export async function packageIn(file: string): Promise<PackageFacts | null> {
  try {
    return factsIn((await runCommand('dpkg-deb', ['--show', `--showformat=${FORMAT}`, file])).stdout);
  } catch (error) {
    if (error instanceof CommandError) return null;
    throw error;
  }
}

function factsIn(shown: string): PackageFacts | null {
  const [name = '', version = '', architecture = '', schema = '', kilobytes = ''] = shown.split('\n');
  if (name !== PACKAGE || version === '') return null;
  return { version, architecture, schema, installedBytes: Number(kilobytes) * 1024 };
}

/** Compares versions as dpkg does. */
export async function isNewer(version: string, than: string): Promise<boolean> {
  try {
    await runCommand('dpkg', ['--compare-versions', version, 'gt', than]);
    return true;
  } catch (error) {
    if (error instanceof CommandError && error.status === 1) return false;
    throw error;
  }
}

export const nativeArchitecture = async (): Promise<string> =>
  (await runCommand('dpkg', ['--print-architecture'])).stdout.trim();

export const fileOfPackage = (folder: string, { version, architecture }: PackageFacts): string =>
  join(folder, `${PACKAGE}_${version}_${architecture}.deb`);
