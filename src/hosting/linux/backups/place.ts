import { join, resolve } from 'node:path';
import { OperatorError } from '../../../lib/operator-error.ts';
import { folderStorage } from './folder-storage.ts';
import { s3Storage } from './s3-storage.ts';

/** Where the repository of one install lies, and how it is reached without restic. */
export interface RepositoryPlace {
  /** As restic names it: a folder, or `s3:https://endpoint/bucket/prefix/<id>`. */
  address: string;
  /** Options for every call of restic. */
  options: readonly string[];
  /** What restic needs in its environment besides the password. */
  environment: Record<string, string>;
  storage: RepositoryStorage;
}

/** The files of one repository. Names are relative to it, with `/`. */
export interface RepositoryStorage {
  has(name: string): Promise<boolean>;
  /** Durable when it resolves. */
  write(name: string, content: Buffer): Promise<void>;
  /** Deletes the repository with all that is in it. One that is not there is success. */
  removeAll(): Promise<void>;
}

export interface S3Credentials {
  accessKeyId: string;
  secretAccessKey: string;
}

/** A bucket, or a part of one. */
export interface S3Place {
  /** `https://host:port`. */
  endpoint: string;
  region: string;
  bucket: string;
  /** Without slashes around it; may be empty. */
  prefix: string;
}

/**
 * Gives each install its repository. `repository` is `HOMEPORT_BACKUP_REPOSITORY`; where it is null, `folder` is used. Throws an
 * OperatorError for what is neither a folder nor an address in S3, and for one in S3 without credentials.
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

/** `s3:https://endpoint/bucket/prefix`, as restic has it. */
export function parseS3(address: string): S3Place {
  const url = URL.parse(address.slice('s3:'.length));
  const [bucket = '', ...prefix] = (url?.pathname ?? '').split('/').filter((part) => part !== '');
  const isPlain = url !== null && url.username === '' && url.search === '' && url.hash === '';
  if (!isPlain || !/^https?:$/.test(url.protocol) || !/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(bucket)) {
    throw new OperatorError(
      'HOMEPORT_BACKUP_REPOSITORY is no address in S3: it should read s3:https://endpoint/bucket/prefix.',
    );
  }
  // Elsewhere than at Amazon, services take the standard region whatever theirs is called.
  const region = /^s3[.-]([a-z0-9-]+)\.amazonaws\.com(\.cn)?$/.exec(url.hostname)?.[1] ?? 'us-east-1';
  return { endpoint: url.origin, region, bucket, prefix: prefix.join('/') };
}
