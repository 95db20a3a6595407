import { ObjectStorageError } from '../../network/object-storage/object-storage.ts';
import { checkBucket, objectUrl, type S3Service } from '../../network/object-storage/s3-address.ts';
import { PermanentHostError } from '../contract/errors.ts';
import type { OffloadRules } from '../contract/install-state.ts';

/** The addresses of a bucket, without a final `/`. */
export interface OffloadOrigin {
  /** For visitors. */
  base: string;
  /** For the edge. nginx resolves names only by DNS servers, which do not know `localhost`. */
  fetchBase: string;
}

/** Throws a {@link PermanentHostError} for an invalid bucket or region. */
export function offloadOrigin(
  service: S3Service,
  bucket: Pick<OffloadRules, 'bucket' | 'region'>,
): OffloadOrigin {
  return { base: bucketUrl(service, bucket), fetchBase: bucketUrl(reached(service), bucket) };
}

function bucketUrl(service: S3Service, { bucket, region }: Pick<OffloadRules, 'bucket' | 'region'>): string {
  try {
    checkBucket({ bucket, region });
  } catch (cause) {
    if (cause instanceof ObjectStorageError) throw new PermanentHostError(cause.message, { cause });
    throw cause;
  }
  return objectUrl(service, { bucket, region, key: '' }).replace(/\/$/, '');
}

function reached(service: S3Service): S3Service {
  if (service.endpoint === null) return service;
  const url = new URL(service.endpoint);
  if (url.hostname === 'localhost') url.hostname = '127.0.0.1';
  return { ...service, endpoint: url.toString() };
}
