import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { MINUTE_MS } from '../../src/lib/durations.ts';

export interface S3Credentials {
  accessKeyId: string;
  secretAccessKey: string;
}

/** An XML error response of S3. */
export class S3Fault extends Error {
  readonly status: number;
  readonly code: string;
  readonly headers: Record<string, string>;
  /** Further XML elements. */
  readonly more: string;

  constructor(
    status: number,
    code: string,
    message: string,
    headers: Record<string, string> = {},
    more = '',
  ) {
    super(message);
    this.status = status;
    this.code = code;
    this.headers = headers;
    this.more = more;
  }
}

const ALGORITHM = 'AWS4-HMAC-SHA256';
const MAX_SKEW_MS = 15 * MINUTE_MS;

/**
 * Verifies an AWS signature of version 4 in the Authorization header; throws {@link S3Fault} as S3 answers. The body
 * may be unsigned, but one that claims a checksum must have it.
 */
export function checkSignature(
  request: IncomingMessage,
  body: Buffer,
  credentials: S3Credentials,
  region: string,
): void {
  const header = request.headers.authorization;
  if (header === undefined) throw new S3Fault(403, 'AccessDenied', 'Access Denied');
  const match =
    /^AWS4-HMAC-SHA256 Credential=([^,]+), *SignedHeaders=([^,]+), *Signature=([0-9a-f]{64})$/.exec(header);
  const [, credential = '', signedHeaders = '', signature = ''] = match ?? [];
  const [accessKeyId, day = '', scopeRegion = '', service, terminator] = credential.split('/');
  if (match === null || service !== 's3' || terminator !== 'aws4_request') {
    throw new S3Fault(400, 'AuthorizationHeaderMalformed', 'The authorization header is malformed.');
  }
  if (accessKeyId !== credentials.accessKeyId) {
    throw new S3Fault(403, 'InvalidAccessKeyId', 'The AWS Access Key Id you provided does not exist.');
  }
  if (scopeRegion !== region) {
    throw new S3Fault(
      400,
      'AuthorizationHeaderMalformed',
      `The authorization header is malformed; the region '${scopeRegion}' is wrong; expecting '${region}'`,
      {},
      `<Region>${region}</Region>`,
    );
  }

  const date = headerOf(request, 'x-amz-date');
  const sent = Date.parse(date.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'));
  if (!(Math.abs(Date.now() - sent) <= MAX_SKEW_MS) || !date.startsWith(day)) {
    throw new S3Fault(403, 'RequestTimeTooSkewed', 'The difference between the clocks is too large.');
  }
  const bodyHash = headerOf(request, 'x-amz-content-sha256');
  const isSignedBody = /^[0-9a-f]{64}$/.test(bodyHash);
  if (isSignedBody && bodyHash !== sha256(body)) {
    throw new S3Fault(400, 'XAmzContentSHA256Mismatch', 'The provided checksum does not match the body.');
  }
  if (!isSignedBody && bodyHash !== 'UNSIGNED-PAYLOAD') {
    throw new S3Fault(501, 'NotImplemented', 'Chunked signatures are not implemented.');
  }
  const names = signedHeaders.split(';');
  if (!names.includes('host')) throw new S3Fault(403, 'SignatureDoesNotMatch', 'The host is not signed.');

  const canonical = [
    request.method,
    ...canonicalTarget(request.url ?? '/'),
    ...names.map((name) => `${name}:${headerOf(request, name).trim().replace(/ +/g, ' ')}`),
    '',
    signedHeaders,
    bodyHash,
  ].join('\n');
  const scope = `${day}/${region}/s3/aws4_request`;
  const toSign = [ALGORITHM, date, scope, sha256(canonical)].join('\n');
  const key = [day, region, 's3', 'aws4_request'].reduce<Buffer>(
    (secret, part) => hmac(secret, part),
    Buffer.from(`AWS4${credentials.secretAccessKey}`),
  );
  if (!timingSafeEqual(hmac(key, toSign), Buffer.from(signature, 'hex'))) {
    throw new S3Fault(403, 'SignatureDoesNotMatch', 'The signature does not match.');
  }
}

/** Path and query in the one form that is signed: every octet but the unreserved encoded, parameters sorted. */
function canonicalTarget(target: string): [string, string] {
  const [path = '', query = ''] = target.split('?');
  const canonicalPath = path
    .split('/')
    .map((segment) => encode(decodeURIComponent(segment)))
    .join('/');
  const canonicalQuery = [...new URLSearchParams(query)]
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .sort()
    .join('&');
  return [canonicalPath, canonicalQuery];
}

function encode(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function headerOf(request: IncomingMessage, name: string): string {
  const value = request.headers[name];
  return Array.isArray(value) ? value.join(',') : (value ?? '');
}

function sha256(bytes: Buffer | string): string {
  return createHash('sha256').update(bytes).digest('hex');
}

function hmac(key: Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}
