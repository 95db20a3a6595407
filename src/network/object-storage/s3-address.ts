import { isIP } from 'node:net';
import { ObjectStorageError } from './object-storage.ts';

/** Address of an S3 service and the style of its bucket URLs. */
export interface S3Service {
  /** Base URL, or null for AWS. */
  endpoint: string | null;
  /** `endpoint/bucket/key` rather than `bucket.endpoint/key`. */
  pathStyle: boolean;
}

/** Names of general purpose buckets in S3. No such name can lead to another host. */
const BUCKET = /^(?!.*\.\.)[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
const REGION = /^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$/;
const MAX_KEY_BYTES = 1024;

/** Throws an {@link ObjectStorageError} for an invalid bucket or region. */
export function checkBucket({ bucket, region }: { bucket: string; region: string }): void {
  if (!BUCKET.test(bucket)) {
    throw new ObjectStorageError(
      `${JSON.stringify(bucket)} is not a valid bucket name: it must have 3 to 63 lower-case letters, digits, hyphens or dots. Correct it in the offload settings.`,
    );
  }
  if (!REGION.test(region)) {
    throw new ObjectStorageError(
      `${JSON.stringify(region)} is not a valid region. Correct the bucket's region in the offload settings.`,
    );
  }
}

/**
 * Whether a key is valid and can be part of a URL: 1 to 1024 bytes, without `.` and `..` segments, which browsers and
 * libraries resolve.
 */
export function isPossibleKey(key: string): boolean {
  const bytes = Buffer.byteLength(key);
  if (bytes === 0 || bytes > MAX_KEY_BYTES || !key.isWellFormed()) return false;
  return !key.split('/').some((segment) => segment === '.' || segment === '..');
}

/** The base URL of the service in a region, without a slash at its end. */
export function endpointOf({ endpoint }: S3Service, region: string): string {
  if (endpoint !== null) return endpoint.replace(/\/+$/, '');
  const domain = region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com';
  return `https://s3.${region}.${domain}`;
}

/**
 * Whether to put the bucket into the path: if configured, if the service has an IP address, or if the bucket has dots, which
 * a certificate for `*.endpoint` does not cover.
 */
export function isPathStyle(service: S3Service, bucket: string, region: string): boolean {
  const { protocol, hostname } = new URL(endpointOf(service, region));
  const isAddress = isIP(hostname.replace(/^\[|\]$/g, '')) !== 0;
  return service.pathStyle || isAddress || (protocol === 'https:' && bucket.includes('.'));
}

/** The URL of an object. */
export function objectUrl(
  service: S3Service,
  object: { bucket: string; region: string; key: string },
): string {
  const { bucket, region, key } = object;
  const base = new URL(endpointOf(service, region));
  const path = base.pathname.replace(/\/+$/, '');
  const inPath = isPathStyle(service, bucket, region);
  const host = inPath ? base.host : `${bucket}.${base.host}`;
  const encoded = key.split('/').map(encodeSegment).join('/');
  return `${base.protocol}//${host}${path}${inPath ? `/${bucket}` : ''}/${encoded}`;
}

/** Encodes all but the unreserved characters of RFC 3986 section 2.3, like S3. */
function encodeSegment(segment: string): string {
  return encodeURIComponent(segment).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
