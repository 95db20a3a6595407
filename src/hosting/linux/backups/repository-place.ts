import { join, resolve } from 'node:path';
import { parseUuid } from '../../../lib/ids.ts';
import { OperatorError } from '../../../lib/operator-error.ts';
import { folderStorage } from './folder-storage.ts';
import type { RepositoryStorage, S3Credentials, S3Place } from './repository-storage.ts';
import { s3Storage } from './s3-storage.ts';

/** Location of an install's repository, with access that does not need restic. */
export interface RepositoryPlace {
  /** In restic's notation: a folder, or `s3:https://endpoint/bucket/prefix/<id>`. */
  address: string;
  /** Options for every restic command. */
  options: readonly string[];
  /** Environment for restic besides the password. */
  environment: Record<string, string>;
  storage: RepositoryStorage;
}

/** A folder or a part of a bucket with the repositories of installs. */
export interface RepositoryRoot {
  /** A folder, or `s3:https://endpoint/bucket/prefix`. Equal places have equal addresses. */
  address: string;
  /** Null for a folder. */
  credentials: S3Credentials | null;
}

/** The name of the setting, for errors. */
const SETTING = 'HOMEPORT_BACKUP_REPOSITORY';

/**
 * Reads an address. `repository` is `HOMEPORT_BACKUP_REPOSITORY`; null means `folder`. Throws an OperatorError if it is neither a
 * folder nor an S3 address, or is in S3 without credentials.
 */
export function repositoryRoot(
  repository: string | null,
  credentials: S3Credentials | null,
  folder: string,
  name = SETTING,
): RepositoryRoot {
  if (repository === null || !repository.startsWith('s3:')) {
    if (repository !== null && /^[a-z0-9]+:/.test(repository)) {
      throw new OperatorError(
        `${name} is "${repository}": give a folder, or s3:https://endpoint/bucket/prefix.`,
      );
    }
    return { address: repository === null ? folder : resolve(repository), credentials: null };
  }
  const { endpoint, bucket, prefix } = parseS3(repository, name);
  if (credentials === null) {
    throw new OperatorError(
      name === SETTING
        ? `${name} is in S3: set HOMEPORT_BACKUP_CREDENTIALS as well.`
        : `${name} is in S3, and its credentials are missing.`,
    );
  }
  return { address: `s3:${[endpoint, bucket, prefix].filter((part) => part !== '').join('/')}`, credentials };
}

/** The repository of an install. */
export function placeIn(root: RepositoryRoot, installId: string): RepositoryPlace {
  const { address, credentials } = root;
  const place = { address: `${address}/${installId}`, storage: storageBelow(root, installId) };
  if (credentials === null) return { ...place, options: [], environment: {} };
  return {
    ...place,
    options: ['-o', `s3.region=${parseS3(address).region}`],
    environment: {
      AWS_ACCESS_KEY_ID: credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    },
  };
}

/** Ids of the installs with anything in a place, also of other machines that share it. */
export async function installsIn(root: RepositoryRoot): Promise<string[]> {
  return (await storageBelow(root, '').list('')).filter((name) => parseUuid(name) === name);
}

/** The files in a place, or with a name in a folder of it. */
export function storageBelow({ address, credentials }: RepositoryRoot, name: string): RepositoryStorage {
  if (credentials === null) return folderStorage(join(address, name));
  const place = parseS3(address);
  const prefix = [place.prefix, name].filter((part) => part !== '').join('/');
  return s3Storage({ ...place, prefix }, credentials);
}

/** Parses `s3:https://endpoint/bucket/prefix`, restic's notation. */
export function parseS3(address: string, name = SETTING): S3Place {
  const url = URL.parse(address.slice('s3:'.length));
  const [bucket = '', ...prefix] = (url?.pathname ?? '').split('/').filter((part) => part !== '');
  const isPlain = url !== null && url.username === '' && url.search === '' && url.hash === '';
  if (!isPlain || !/^https?:$/.test(url.protocol) || !/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(bucket)) {
    throw new OperatorError(
      `${name} is not a valid S3 address: use the form s3:https://endpoint/bucket/prefix.`,
    );
  }
  // Services other than Amazon's accept the default region, whatever their own is called.
  const region = /^s3[.-]([a-z0-9-]+)\.amazonaws\.com(\.cn)?$/.exec(url.hostname)?.[1] ?? 'us-east-1';
  return { endpoint: url.origin, region, bucket, prefix: prefix.join('/') };
}
