import type { LookupFunction } from 'node:net';
import type { Readable } from 'node:stream';
import type { GetObjectCommandInput, GetObjectCommandOutput, S3Client } from '@aws-sdk/client-s3';
import type { Logger } from 'pino';
import { proxyOfAgents } from '../../lib/outbound-proxy.ts';
import {
  type ObjectConditions,
  type ObjectRef,
  type ObjectStorage,
  ObjectStorageError,
  type StoredObject,
} from './object-storage.ts';
import { checkBucket, endpointOf, isPathStyle, isPossibleKey, objectUrl } from './s3-address.ts';
import { explain, partOf } from './s3-errors.ts';
import { withProgressTimeout } from './s3-progress.ts';

export interface S3Options {
  /** Base URL of the service, or null for AWS. */
  endpoint: string | null;
  /** Puts the bucket into the path (`endpoint/bucket/key`) instead of the host name. */
  pathStyle: boolean;
  /** Null for unsigned requests, which can read only public objects. */
  credentials: { accessKeyId: string; secretAccessKey: string } | null;
  /** Extra PEM to trust, besides the well-known authorities. */
  ca?: string;
  log: Logger;
  /** Look-up of host names; default is the system's. */
  lookup?: LookupFunction;
  /** Timeout until the answer or its next bytes; default 30 s. */
  progressTimeoutMs?: number;
}

const CONNECT_TIMEOUT_MS = 5_000;
const PROGRESS_TIMEOUT_MS = 30_000;
/** Takes a few seconds at most with the library's backoff, because a visitor is waiting. */
const MAX_ATTEMPTS = 3;
/** Slow visitors hold connections during their downloads, and others must not wait for them. */
const MAX_CONNECTIONS = 1024;

/** Reads objects by the S3 protocol. Loads the client library on first use, because that is slow. */
export function createS3Storage(options: S3Options): ObjectStorage & { close(): void } {
  const clients = new Map<string, Promise<S3Client>>();
  const progressTimeoutMs = options.progressTimeoutMs ?? PROGRESS_TIMEOUT_MS;

  /** One client for each region and style, because both are settings of a client. */
  function clientFor(object: ObjectRef): Promise<S3Client> {
    const forcePathStyle = isPathStyle(options, object.bucket, object.region);
    const name = `${object.region} ${forcePathStyle}`;
    let client = clients.get(name);
    if (client === undefined) {
      client = createS3Client(options, object.region, forcePathStyle);
      clients.set(name, client);
    }
    return client;
  }

  return {
    async get(object, conditions = {}) {
      checkBucket(object);
      if (!isPossibleKey(object.key)) return null;
      const client = await clientFor(object);
      try {
        return await fetchObject(client, object, conditions, progressTimeoutMs);
      } catch (error) {
        return explain(error, object, conditions.method ?? 'GET', options);
      }
    },

    publicUrl(object) {
      checkBucket(object);
      if (!isPossibleKey(object.key)) {
        throw new ObjectStorageError(`No object can have the key ${JSON.stringify(object.key)}.`);
      }
      return objectUrl(options, object);
    },

    close() {
      for (const client of clients.values()) {
        client.then(
          (made) => made.destroy(),
          () => {},
        );
      }
      clients.clear();
    },
  };
}

/** Creates a client for one region. The first call loads the library. */
export async function createS3Client(
  options: S3Options,
  region: string,
  forcePathStyle: boolean,
): Promise<S3Client> {
  const { S3Client } = await import('@aws-sdk/client-s3');
  const { rootCertificates } = await import('node:tls');
  const { log, ca, lookup } = options;
  const agent = {
    maxSockets: MAX_CONNECTIONS,
    ...proxyOfAgents(),
    ...(lookup === undefined ? {} : { lookup }),
  };
  return new S3Client({
    region,
    // Also set for AWS, so that requests and publicUrl use the same host.
    endpoint: endpointOf(options, region),
    forcePathStyle,
    ...(options.credentials === null
      ? {
          // Without explicit credentials, the library would search files and the network for some.
          credentials: { accessKeyId: '', secretAccessKey: '' },
          signer: { sign: async (request) => request },
        }
      : { credentials: options.credentials }),
    maxAttempts: MAX_ATTEMPTS,
    followRegionRedirects: false,
    disableS3ExpressSessionAuth: true,
    // Some services other than AWS do not support these checksums.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: {
      connectionTimeout: CONNECT_TIMEOUT_MS,
      // This timeout would also count the time in which a slow visitor does not read; see withProgressTimeout.
      socketTimeout: 0,
      httpAgent: agent,
      httpsAgent: { ...agent, ...(ca === undefined ? {} : { ca: [...rootCertificates, ca] }) },
    },
    logger: {
      debug: () => {},
      info: () => {},
      warn: (...message: unknown[]) => log.warn({ region }, message.map(String).join(' ')),
      // Errors are thrown and reported by the caller.
      error: () => {},
    },
  });
}

async function fetchObject(
  client: S3Client,
  object: ObjectRef,
  conditions: ObjectConditions,
  progressTimeoutMs: number,
): Promise<StoredObject> {
  const { GetObjectCommand, HeadObjectCommand } = await import('@aws-sdk/client-s3');
  const input: GetObjectCommandInput = {
    Bucket: object.bucket,
    Key: object.key,
    Range: conditions.range,
    IfNoneMatch: conditions.ifNoneMatch,
    IfModifiedSince: dateOf(conditions.ifModifiedSince),
  };
  if (conditions.method === 'HEAD') {
    const output = await answerWithin(progressTimeoutMs, (abortSignal) => {
      return client.send(new HeadObjectCommand(input), { abortSignal });
    });
    return { status: statusOf(output), headers: headersOf(output), body: null };
  }
  const output = await answerWithin(progressTimeoutMs, (abortSignal) => {
    return client.send(new GetObjectCommand(input), { abortSignal });
  });
  return {
    status: statusOf(output),
    headers: headersOf(output),
    body: withProgressTimeout(readable(output.Body), progressTimeoutMs, (cause) => {
      return new ObjectStorageError(
        `The object storage stopped in the middle of an object of the bucket ${JSON.stringify(object.bucket)}.`,
        { cause },
      );
    }),
  };
}

/** Aborts a request and its retries without an answer in time. The body has a separate timeout. */
async function answerWithin<T>(timeoutMs: number, send: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(), timeoutMs);
  try {
    return await send(deadline.signal);
  } finally {
    clearTimeout(timer);
  }
}

/** Parses a date. An invalid one is ignored (RFC 9110 section 13.1.3). */
function dateOf(text: string | undefined): Date | undefined {
  const time = Date.parse(text ?? '');
  return Number.isNaN(time) ? undefined : new Date(time);
}

type Described = Omit<GetObjectCommandOutput, 'Body'>;

function statusOf(output: Described): number {
  return output.ContentRange === undefined ? 200 : 206;
}

function headersOf(output: Described): Record<string, string> {
  const headers = {
    'accept-ranges': output.AcceptRanges,
    'cache-control': output.CacheControl,
    'content-disposition': output.ContentDisposition,
    'content-encoding': output.ContentEncoding,
    'content-language': output.ContentLanguage,
    'content-length': output.ContentLength?.toString(),
    'content-range': output.ContentRange,
    'content-type': output.ContentType,
    etag: output.ETag,
    expires: output.ExpiresString,
    'last-modified': output.LastModified?.toUTCString(),
  };
  return partOf(headers);
}

function readable(body: GetObjectCommandOutput['Body']): Readable {
  if (body === undefined || !('pipe' in body)) throw new TypeError('the S3 client gave no stream');
  return body;
}
