import { createWriteStream, existsSync } from 'node:fs';
import { chmod, copyFile, mkdir, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { MINUTE_MS } from '../../../lib/durations.ts';
import { rootMessageOf } from '../../../lib/error-message.ts';
import { ifThere } from '../../../lib/if-there.ts';
import { OperatorError } from '../../../lib/operator-error.ts';
import {
  addressOfFile,
  type Release,
  type ReleaseFile,
  releasesAfter,
} from '../../../lib/releases/release-index.ts';
import { fetchReleaseIndex } from '../../../releases/fetch-index.ts';
import { nativeArchitecture, PACKAGE, type PackageFacts, packageIn } from './packages.ts';
import { SIGNATURE, SUMS, signersOf, verifyFile } from './verified-file.ts';

/** A package that can be installed. */
export interface OfferedPackage {
  file: string;
  facts: PackageFacts;
  /** Where its changes are described. */
  notes: string;
  /** How it was verified, in words. */
  verified: string;
}

/** Of the list of checksums and its signature. */
const MOST_SUMS_BYTES = 1024 * 1024;
const DOWNLOAD_MS = 60 * MINUTE_MS;

/** Where a package comes to. */
export interface PackagePlace {
  folder: string;
  /** The folder of this program, which has the keys of releases. */
  root: string;
  /** Called with the size of the package before anything is written. Throws OperatorError. */
  requireRoomFor(packageBytes: number): Promise<void>;
}

/** A package in a file, verified if signed checksums are beside it, and copied into `folder`. Throws OperatorError. */
export async function packageOfFile(
  given: string,
  { folder, root, requireRoomFor }: PackagePlace,
): Promise<OfferedPackage> {
  const from = resolve(given);
  const found = await ifThere(stat(from));
  if (found === null) throw new OperatorError(`${from} is no package of Homeport.`);
  const hasSums = existsSync(join(dirname(from), SUMS));
  const signers = signersOf(root);
  if (hasSums && signers === null) {
    throw new OperatorError(
      `This Homeport has no keys of releases, so it cannot verify ${SUMS} beside ${from}. Verify it by hand (docs/install.md), and give the file alone.`,
    );
  }
  await requireRoomFor(found.size);
  await mkdir(folder, { recursive: true, mode: 0o755 });
  const file = await copyInto(folder, from);
  if (hasSums && signers !== null) {
    for (const name of [SUMS, SIGNATURE]) await copyInto(folder, join(dirname(from), name));
    await verifyFile(file, signers, from);
  }
  const facts = await packageIn(file);
  if (facts === null) throw new OperatorError(`${from} is no package of Homeport.`);
  return {
    file,
    facts,
    notes: 'CHANGELOG.md of the package',
    verified: hasSums ? 'signature and checksum are right' : `not verified, because no ${SUMS} is beside it`,
  };
}

/** Copies a file, so that its present owner can no longer change what is verified and installed. */
async function copyInto(folder: string, from: string): Promise<string> {
  const file = join(folder, basename(from));
  try {
    await copyFile(from, file);
    await chmod(file, 0o644);
  } catch (error) {
    throw new OperatorError(`${from} could not be copied: ${rootMessageOf(error)}.`, { cause: error });
  }
  return file;
}

/** The newest release after a version, or null without one. `index`: the address of the list of releases. Throws OperatorError. */
export async function newestRelease(index: string, version: string): Promise<Release | null> {
  try {
    return releasesAfter(await fetchReleaseIndex(index), version)[0] ?? null;
  } catch (error) {
    throw new OperatorError(
      `The list of releases could not be read: ${rootMessageOf(error)}. Check HOMEPORT_RELEASES_URL, or give the file of a package.`,
      { cause: error },
    );
  }
}

/** Downloads and verifies the package of a release into `folder`. Throws OperatorError. */
export async function downloadRelease(
  index: string,
  release: Release,
  { folder, root, requireRoomFor }: PackagePlace,
): Promise<OfferedPackage> {
  const signers = signersOf(root);
  if (signers === null) {
    throw new OperatorError(
      'This Homeport has no keys of releases, so it verifies no download. Download and verify the package by hand (docs/install.md), and give the file.',
    );
  }
  const architecture = await nativeArchitecture();
  const listed = release.files.find(
    ({ name }) => name.startsWith(`${PACKAGE}_`) && name.endsWith(`_${architecture}.deb`),
  );
  if (listed === undefined)
    throw new OperatorError(`Homeport ${release.version} has no package for ${architecture}.`);
  await requireRoomFor(listed.size);
  await mkdir(folder, { recursive: true, mode: 0o755 });
  for (const name of [SUMS, SIGNATURE]) {
    const part = { name, size: MOST_SUMS_BYTES, sha256: '' };
    await download(addressOfFile(index, release, part), join(folder, name), MOST_SUMS_BYTES);
  }
  const file = await downloadFile(index, release, listed, folder);
  await verifyFile(file, signers);
  const facts = await packageIn(file);
  if (facts === null) throw new OperatorError(`${listed.name} is no package of Homeport.`);
  return { file, facts, notes: release.notes, verified: 'signature and checksum are right' };
}

async function downloadFile(
  index: string,
  release: Release,
  listed: ReleaseFile,
  folder: string,
): Promise<string> {
  const file = join(folder, listed.name);
  await download(addressOfFile(index, release, listed), file, listed.size);
  return file;
}

async function download(address: string, file: string, mostBytes: number): Promise<void> {
  try {
    const response = await fetch(address, { redirect: 'error', signal: AbortSignal.timeout(DOWNLOAD_MS) });
    if (!response.ok || response.body === null) throw new Error(`the answer is ${response.status}`);
    let bytes = 0;
    const bounded = new Transform({
      transform(chunk: Buffer, _encoding, done) {
        bytes += chunk.length;
        done(bytes > mostBytes ? new Error('it is larger than the list of releases says') : null, chunk);
      },
    });
    await pipeline(Readable.fromWeb(response.body), bounded, createWriteStream(file));
  } catch (error) {
    await rm(file, { force: true });
    throw new OperatorError(`${address} could not be downloaded: ${rootMessageOf(error)}.`, { cause: error });
  }
}
