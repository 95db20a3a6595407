import { resolve } from 'node:path';
import type { Config } from '../config/config.ts';
import { OperatorError } from '../lib/operator-error.ts';
import { createFolderStorage } from './folder-storage.ts';
import { createS3Storage, type S3Place, type S3StorageOptions } from './s3-storage.ts';
import type { BackupStorage } from './storage.ts';

const S3 = /^s3:(https?:\/\/.+)$/;

/** Opens a destination: a folder, or `s3:https://endpoint/bucket/prefix`. Throws OperatorError for an invalid address. */
export function openStorage(destination: string, options: S3StorageOptions): BackupStorage {
  const [, address] = S3.exec(destination) ?? [];
  if (address !== undefined) return createS3Storage(s3Place(address), options);
  if (destination.startsWith('s3:')) throw notAnAddress(destination);
  return createFolderStorage(resolve(destination));
}

/** The folder of a destination, relative to the working directory `from`; null for a bucket. */
export function destinationFolder(destination: string, from: string): string | null {
  return destination.startsWith('s3:') ? null : resolve(from, destination);
}

/** Options for a destination in S3. */
export function storageOptions(
  config: Pick<Config, 'dataDir' | 'platformBackupCredentials'>,
  log: S3StorageOptions['log'],
  staging = config.dataDir,
): S3StorageOptions {
  return { credentials: config.platformBackupCredentials, staging, log };
}

/** Splits the location of one backup into its destination and its name. */
export function splitLocation(location: string): { destination: string; name: string } {
  const [path = '', query] = location.split('?', 2);
  const slash = path.replace(/\/+$/, '').lastIndexOf('/');
  const name = path.replace(/\/+$/, '').slice(slash + 1);
  const folder = slash === -1 ? '.' : path.slice(0, slash) || '/';
  return { destination: query === undefined ? folder : `${folder}?${query}`, name };
}

function s3Place(address: string): S3Place {
  const parsed = URL.parse(address);
  const [bucket = '', ...prefix] = parsed?.pathname.split('/').filter((part) => part !== '') ?? [];
  if (!parsed || bucket === '' || parsed.username !== '' || parsed.password !== '')
    throw notAnAddress(`s3:${parsed?.host ?? ''}`);
  const [, awsRegion] = /^s3[.-]([a-z0-9-]+)\.amazonaws\.com(\.cn)?$/.exec(parsed.hostname) ?? [];
  return {
    endpoint: parsed.origin,
    bucket,
    prefix: prefix.join('/'),
    region: parsed.searchParams.get('region') ?? awsRegion ?? 'us-east-1',
  };
}

function notAnAddress(text: string): OperatorError {
  return new OperatorError(
    `"${text}" is not a place for backups. Name a folder, or s3:https://endpoint/bucket/prefix (with ?region=… if it is not us-east-1); ` +
      'the credentials go into HOMEPORT_PLATFORM_BACKUP_CREDENTIALS.',
  );
}
