import { type ObjectRef, ObjectStorageError, type StoredObject } from './object-storage.ts';
import { endpointOf, type S3Service } from './s3-address.ts';

/** Details of a failed request. */
interface Failure {
  /** Code of the XML answer or the system error. */
  code: string;
  /** HTTP status; 0 without an answer. */
  status: number;
  headers: Record<string, string>;
  /** Other elements of the XML answer, by name. */
  details: Record<string, string>;
}

/** Explanations of network errors. */
const UNREACHABLE: Record<string, string> = {
  ECONNREFUSED: 'nothing listens there',
  ECONNRESET: 'it closed the connection',
  EPIPE: 'it closed the connection',
  EHOSTUNREACH: 'there is no route to it',
  ENETUNREACH: 'there is no route to it',
  ENOTFOUND: 'the name is not known',
  EAI_AGAIN: 'the name could not be looked up',
  ETIMEDOUT: 'it did not answer in time',
  TimeoutError: 'it did not answer in time',
  AbortError: 'it did not answer in time',
};

/** Node's codes for refused certificates. */
const CERTIFICATE = /^(CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_TLS_CERT_|HOSTNAME_MISMATCH)/;

interface Context extends S3Service {
  credentials: object | null;
}

/**
 * Interprets a failed request. Returns null for a missing object, and an answer for 304 and 416. Otherwise throws an
 * {@link ObjectStorageError} that says what to fix.
 */
export function explain(
  error: unknown,
  object: ObjectRef,
  method: 'GET' | 'HEAD',
  context: Context,
): StoredObject | null {
  const failure = failureOf(error);
  if (failure.status === 304) {
    return {
      status: 304,
      headers: partOf(pick(failure.headers, ['etag', 'last-modified', 'cache-control'])),
      body: null,
    };
  }
  if (failure.status === 416) return { status: 416, headers: rangeHeaders(failure), body: null };
  if (isMissing(failure, method)) return null;
  throw new ObjectStorageError(sentence(failure, object, context), { cause: error });
}

/** An answer to HEAD has no code. A 404 to GET without a code does not come from S3. */
function isMissing({ code, status }: Failure, method: 'GET' | 'HEAD'): boolean {
  return status === 404 && (method === 'HEAD' || code === 'NoSuchKey' || code === 'NoSuchVersion');
}

function sentence(failure: Failure, object: ObjectRef, context: Context): string {
  const { code, status } = failure;
  const bucket = `the bucket ${JSON.stringify(object.bucket)}`;
  const place = endpointOf(context, object.region);
  const reason = UNREACHABLE[code];
  if (reason !== undefined) {
    return `The object storage at ${place} cannot be reached: ${reason}. Check the bucket's region. If it is right, ask your provider whether this is the right storage.`;
  }
  if (CERTIFICATE.test(code)) {
    return `The certificate of the object storage at ${place} is not accepted (${code}). Its operator must renew the certificate. Otherwise ask your provider whether this is the right storage.`;
  }
  if (code === 'NoSuchBucket') {
    return `There is no ${bucket.slice(4)} at ${place}. Create it, or correct its name or region in the offload settings.`;
  }
  const region = regionOf(failure);
  if (status === 301 || status === 307 || (code === 'AuthorizationHeaderMalformed' && region !== undefined)) {
    const home = region === undefined ? 'in another region' : `in the region ${JSON.stringify(region)}`;
    return `${capital(bucket)} is ${home}, not in ${JSON.stringify(object.region)}. Correct its region in the offload settings.`;
  }
  if (code === 'InvalidAccessKeyId' || code === 'SignatureDoesNotMatch') {
    return `The object storage at ${place} does not accept the credentials (${code}). Your provider must correct them.`;
  }
  if (code === 'RequestTimeTooSkewed') {
    return `The object storage at ${place} refuses requests because this machine's clock is wrong. Set the clock.`;
  }
  if (status === 401 || status === 403) {
    return context.credentials === null
      ? `${capital(bucket)} is not publicly readable. Make it public, or ask your provider for credentials that may read them.`
      : `${capital(bucket)} refuses your provider's credentials. Give them the right to read its objects (s3:GetObject) and to list it (s3:ListBucket).`;
  }
  if (status === 429 || status >= 500) {
    return `The object storage at ${place} is failing or overloaded (${status} ${code}). Try again later.`;
  }
  if (status === 0) return `The object storage at ${place} sent no answer (${code}).`;
  return `The server at ${place} does not behave like S3 object storage (${status} ${code}). Ask your provider whether this is the right storage.`;
}

function regionOf({ headers, details }: Failure): string | undefined {
  return headers['x-amz-bucket-region'] ?? details.Region;
}

/** Adds the total length to a 416 (RFC 9110 section 15.5.17). S3 gives it in the body. */
function rangeHeaders({ headers, details }: Failure): Record<string, string> {
  const size = details.ActualObjectSize;
  const range = headers['content-range'] ?? (size === undefined ? undefined : `bytes */${size}`);
  return partOf({ 'content-range': range, 'accept-ranges': headers['accept-ranges'] });
}

/** Reads the library's error. Only its name and message are guaranteed. */
function failureOf(error: unknown): Failure {
  const status = numberIn(error, '$metadata', 'httpStatusCode');
  const system = innermostCode(error);
  const code = system ?? textIn(error, 'Code') ?? (error instanceof Error ? error.name : 'unknown');
  return {
    code,
    status: system === undefined ? status : 0,
    headers: textsIn(valueIn(valueIn(error, '$response'), 'headers')),
    details: textsIn(error),
  };
}

/** The code of the system error; the first one if a name has several addresses. */
function innermostCode(error: unknown): string | undefined {
  const code = textIn(error, 'code');
  if (code !== undefined && (UNREACHABLE[code] !== undefined || CERTIFICATE.test(code))) return code;
  if (error instanceof AggregateError) return innermostCode(error.errors[0]);
  return error instanceof Error && UNREACHABLE[error.name] !== undefined ? error.name : undefined;
}

function valueIn(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

function textIn(value: unknown, name: string): string | undefined {
  const found = valueIn(value, name);
  return typeof found === 'string' ? found : undefined;
}

function numberIn(value: unknown, ...names: string[]): number {
  const found = names.reduce(valueIn, value);
  return typeof found === 'number' ? found : 0;
}

function textsIn(value: unknown): Record<string, string> {
  if (typeof value !== 'object' || value === null) return {};
  return partOf(Object.fromEntries(Object.keys(value).map((name) => [name, textIn(value, name)])));
}

/** The entries with a value. */
export function partOf(entries: Record<string, string | undefined>): Record<string, string> {
  const part: Record<string, string> = {};
  for (const [name, value] of Object.entries(entries)) {
    if (value !== undefined) part[name] = value;
  }
  return part;
}

function pick(from: Record<string, string>, names: string[]): Record<string, string | undefined> {
  return Object.fromEntries(names.map((name) => [name, from[name]]));
}

function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
