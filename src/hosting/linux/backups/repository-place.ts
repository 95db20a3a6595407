import { join, resolve } from 'node:path';
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

/**
 * Gives each install its own repository. `repository` is `HOMEPORT_BACKUP_REPOSITORY`; null stands for `folder`. Throws an
 * OperatorError if it is neither a folder nor an S3 address, or is in S3 without credentials.
 */
export function repositoryPlaces(
  repository: string | null,
  credentials: S3Credentials | null,
  folder: string,
): (installId: string) => RepositoryPlace {
  if (repository === null || !repository.startsWith('s3:')) {
    if (repository !== null && /^[a-z0-9]+:/.test(repository)) {
      throw new OperatorError(
        `HOMEPORT_BACKUP_REPOSITORY is "${repository}": give a folder, or s3:https://endpoint/bucket/prefix.`,
      );
    }
    const root = repository === null ? folder : resolve(repository);
    return (installId) => {
      const path = join(root, installId);
      return { address: path, options: [], environment: {}, storage: folderStorage(path) };
    };
  }
  const place = parseS3(repository);
  if (credentials === null) {
    throw new OperatorError('HOMEPORT_BACKUP_REPOSITORY is in S3: set HOMEPORT_BACKUP_CREDENTIALS as well.');
  }
  return (installId) => {
    const prefix = place.prefix === '' ? installId : `${place.prefix}/${installId}`;
    return {
      address: `s3:${place.endpoint}/${place.bucket}/${prefix}`,
      options: ['-o', `s3.region=${place.region}`],
      environment: {
        AWS_ACCESS_KEY_ID: credentials.accessKeyId,
        AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
      },
      storage: s3Storage({ ...place, prefix }, credentials),
    };
  };
}

/** Parses `s3:https://endpoint/bucket/prefix`, restic's notation. */
export function parseS3(address: string): S3Place {
  const url = URL.parse(address.slice('s3:'.length));
  const [bucket = '', ...prefix] = (url?.pathname ?? '').split('/').filter((part) => part !== '');
  const isPlain = url !== null && url.username === '' && url.search === '' && url.hash === '';
  if (!isPlain || !/^https?:$/.test(url.protocol) || !/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(bucket)) {
    throw new OperatorError(
      'HOMEPORT_BACKUP_REPOSITORY is not a valid S3 address: use the form s3:https://endpoint/bucket/prefix.',
    );
  }
  // Services other than Amazon's accept the default region, whatever their own is called.
  const region = /^s3[.-]([a-z0-9-]+)\.amazonaws\.com(\.cn)?$/.exec(url.hostname)?.[1] ?? 'us-east-1';
  return { endpoint: url.origin, region, bucket, prefix: prefix.join('/') };
}
