import { constants, lstatSync, readFileSync, type Stats, statSync } from 'node:fs';
import { mkdir, open, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../config/config.ts';
import { replaceAtomically } from '../lib/durable-file.ts';
import { hasCode } from '../lib/error-code.ts';
import { OperatorError } from '../lib/operator-error.ts';
import { ownCertificateFile, showsOwnCertificate } from './api-certificate.ts';

const OPEN_TO_READERS = 0o755;
const WRITABLE_BY_OTHERS = 0o022;

/** Folder that every user may read, beside the data folder, which is closed. */
export function publicFolder(dataDir: string): string {
  return `${dataDir}-public`;
}

/** Copy of the self-signed certificate for clients that other users run. */
export function publicCertificateFile(dataDir: string): string {
  return join(publicFolder(dataDir), 'api.crt');
}

/**
 * Creates the public folder for the owner of the data folder. Throws an OperatorError if it belongs to another user, who
 * could replace the certificate that clients trust.
 */
export async function preparePublicFolder(dataDir: string): Promise<void> {
  const path = publicFolder(dataDir);
  const { uid, gid } = await stat(dataDir);
  try {
    await mkdir(path);
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
    if (!isOwned(lstatSync(path), uid)) throw new OperatorError(`${path} belongs to another user`);
  }
  const folder = await open(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  try {
    const present = await folder.stat();
    if ((present.mode & 0o777) !== OPEN_TO_READERS) await folder.chmod(OPEN_TO_READERS);
    if (present.uid !== uid && process.getuid?.() === 0) await folder.chown(uid, gid);
  } finally {
    await folder.close();
  }
}

/** Writes the copy, or removes it if clients see another certificate. */
export async function publishCertificate(
  config: Pick<Config, 'dataDir' | 'tlsCert' | 'trustProxy' | 'publicUrl'>,
  certificate: string,
): Promise<void> {
  const file = publicCertificateFile(config.dataDir);
  if (showsOwnCertificate(config)) {
    await preparePublicFolder(config.dataDir);
    await replaceAtomically(file, certificate, { mode: 0o644 });
  } else if (isTrustworthy(config.dataDir)) {
    await rm(file, { force: true });
  }
}

/** The copy if it is the certificate in use and no other user can replace it; else the file in the data folder. */
export function certificateFileForClients(dataDir: string): string {
  return hasPublicCertificate(dataDir) ? publicCertificateFile(dataDir) : ownCertificateFile(dataDir);
}

/** Whether the copy is the certificate in use, in a folder that no other user can write to. */
export function hasPublicCertificate(dataDir: string): boolean {
  try {
    const used = readFileSync(ownCertificateFile(dataDir), 'utf8');
    return isTrustworthy(dataDir) && readFileSync(publicCertificateFile(dataDir), 'utf8') === used;
  } catch {
    // Either file is missing before the first start, or unreadable.
    return false;
  }
}

function isTrustworthy(dataDir: string): boolean {
  const folder = lstatSync(publicFolder(dataDir), { throwIfNoEntry: false });
  if (folder === undefined) return false;
  return isOwned(folder, statSync(dataDir).uid) && (folder.mode & WRITABLE_BY_OTHERS) === 0;
}

function isOwned(folder: Stats, uid: number): boolean {
  return folder.isDirectory() && (folder.uid === uid || folder.uid === 0);
}
