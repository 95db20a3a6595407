import { createHash, randomUUID } from 'node:crypto';
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { checkSignature, type S3Credentials, S3Fault } from './s3-signature.ts';

/**
 * A small object store that speaks the S3 protocol for tests: PUT, GET, HEAD and DELETE of objects, ListObjectsV2,
 * ranges, conditions, path-style and virtual-host style addresses, verified signatures, and errors in the XML of S3. Enough for
 * restic without signature checks: signatures of chunked bodies are not verified.
 */
export interface S3Server {
  /** `http://localhost:<port>`; below it `/bucket/key`, or `bucket.localhost` as the host name. */
  url: string;
  port: number;
  /** The received requests, oldest first. */
  requests: { method: string; host: string; path: string; signed: boolean; keyId: string | null }[];
  /** Keys and contents of a bucket. */
  objects(bucket: string): Map<string, Buffer>;
  /** Uploads in parts that neither ended nor were aborted. */
  openUploads(): number;
  /** Stores an object, and creates its bucket if missing. */
  put(bucket: string, key: string, body: Buffer | string, type?: string, more?: Record<string, string>): void;
  close(): Promise<void>;
}

export interface S3ServerOptions {
  /** If given, every request must be signed with them; otherwise signatures are ignored. */
  credentials?: S3Credentials;
  /** The region that signatures must name; `us-east-1` if left out. */
  region?: string;
  /** Existing empty buckets. */
  buckets?: string[];
  /** Buckets that are in another region: requests for them are redirected there, as S3 does. */
  elsewhere?: Record<string, string>;
  /** Buckets that must not be read. */
  forbidden?: string[];
  /** Selects requests to refuse. */
  refuse?(method: string, key: string): boolean;
  /** Certificate chain and key in PEM; the server then speaks HTTPS. */
  tls?: { cert: string; key: string };
}

interface StoredBody {
  body: Buffer;
  headers: Record<string, string>;
  etag: string;
  modified: Date;
}

/** Headers of a PUT that come back with the object. */
const KEPT = [
  'content-type',
  'cache-control',
  'content-encoding',
  'content-disposition',
  'content-language',
  'expires',
];

export async function startS3Server(options: S3ServerOptions = {}): Promise<S3Server> {
  const region = options.region ?? 'us-east-1';
  const buckets = new Map<string, Map<string, StoredBody>>();
  for (const bucket of options.buckets ?? []) buckets.set(bucket, new Map());
  const requests: S3Server['requests'] = [];
  /** Parts by their numbers, by upload. */
  const uploads = new Map<string, Map<number, Buffer>>();

  function put(bucket: string, key: string, body: Buffer, headers: Record<string, string>): StoredBody {
    const objects = buckets.get(bucket) ?? new Map<string, StoredBody>();
    buckets.set(bucket, objects);
    const etag = `"${createHash('md5').update(body).digest('hex')}"`;
    const stored = { body, headers, etag, modified: new Date() };
    objects.set(key, stored);
    return stored;
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await bodyOf(request);
    const { bucket, key, query } = addressOf(request);
    requests.push({
      method: request.method ?? '',
      host: request.headers.host ?? '',
      path: request.url ?? '',
      signed: request.headers.authorization !== undefined,
      keyId: /Credential=([^/]+)\//.exec(request.headers.authorization ?? '')?.[1] ?? null,
    });
    const home = options.elsewhere?.[bucket];
    if (home !== undefined) {
      throw new S3Fault(301, 'PermanentRedirect', 'The bucket is in another region.', {
        'x-amz-bucket-region': home,
      });
    }
    if (options.credentials !== undefined) checkSignature(request, body, options.credentials, region);
    if (options.refuse?.(request.method ?? '', key) === true)
      throw new S3Fault(403, 'AccessDenied', 'Access Denied');
    if (options.forbidden?.includes(bucket)) throw new S3Fault(403, 'AccessDenied', 'Access Denied');
    const objects = buckets.get(bucket);
    if (objects === undefined) throw new S3Fault(404, 'NoSuchBucket', 'The specified bucket does not exist');

    const uploadId = query.get('uploadId');
    if (key === '') {
      if (request.method !== 'GET') throw notImplemented();
      response.writeHead(200, { 'content-type': 'application/xml' }).end(listing(bucket, objects, query));
    } else if (request.method === 'POST' && query.has('uploads')) {
      const id = randomUUID();
      uploads.set(id, new Map());
      const upload = `<Bucket>${xml(bucket)}</Bucket><Key>${xml(key)}</Key><UploadId>${id}</UploadId>`;
      sendXml(response, 'InitiateMultipartUploadResult', upload);
    } else if (uploadId !== null) {
      const parts = uploads.get(uploadId);
      if (parts === undefined) throw new S3Fault(404, 'NoSuchUpload', 'The upload does not exist.');
      if (request.method === 'PUT') {
        parts.set(Number(query.get('partNumber')), body);
        response.writeHead(200, { etag: `"${createHash('md5').update(body).digest('hex')}"` }).end();
      } else {
        uploads.delete(uploadId);
        if (request.method === 'DELETE') response.writeHead(204).end();
        else {
          const inOrder = [...parts].sort(([a], [b]) => a - b).map(([, part]) => part);
          const { etag } = put(bucket, key, Buffer.concat(inOrder), {});
          sendXml(response, 'CompleteMultipartUploadResult', `<ETag>${xml(etag)}</ETag>`);
        }
      }
    } else if (request.method === 'PUT') {
      const headers = KEPT.flatMap((name) => {
        const value = request.headers[name];
        return typeof value === 'string' ? [[name, value]] : [];
      });
      const stored = put(bucket, key, body, Object.fromEntries(headers));
      response.writeHead(200, { etag: stored.etag }).end();
    } else if (request.method === 'DELETE') {
      objects.delete(key);
      response.writeHead(204).end();
    } else if (request.method === 'GET' || request.method === 'HEAD') {
      const stored = objects.get(key);
      if (stored === undefined) throw new S3Fault(404, 'NoSuchKey', 'The specified key does not exist.');
      sendObject(request, response, stored);
    } else {
      throw notImplemented();
    }
  }

  function listener(request: IncomingMessage, response: ServerResponse): void {
    handle(request, response).catch((error: unknown) => sendFault(request, response, error));
  }
  const server = options.tls ? createHttpsServer(options.tls, listener) : createHttpServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  const { port } = address;
  return {
    url: `${options.tls ? 'https' : 'http'}://localhost:${port}`,
    port,
    requests,
    objects: (bucket) =>
      new Map([...(buckets.get(bucket) ?? [])].map(([key, { body }]): [string, Buffer] => [key, body])),
    openUploads: () => uploads.size,
    put(bucket, key, body, type = 'binary/octet-stream', more = {}) {
      put(bucket, key, Buffer.from(body), { 'content-type': type, ...more });
    },
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
      // The variables of a test file last as long as its worker.
      buckets.clear();
    },
  };
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = Buffer.concat(chunks);
  const isInPieces = `${request.headers['x-amz-content-sha256'] ?? ''}`.startsWith('STREAMING-');
  return isInPieces ? joinPieces(body) : body;
}

/** A body whose pieces are signed one by one: each is its length in hex and its signature, a line end, its bytes, a line end. */
function joinPieces(body: Buffer): Buffer {
  const pieces: Buffer[] = [];
  for (let at = 0; at < body.length; ) {
    const lineEnd = body.indexOf('\r\n', at);
    const [length = ''] = body.toString('latin1', at, lineEnd).split(';');
    const start = lineEnd + 2;
    pieces.push(body.subarray(start, start + Number.parseInt(length, 16)));
    at = start + Number.parseInt(length, 16) + 2;
  }
  return Buffer.concat(pieces);
}

/** `/bucket/key` on the plain host, `/key` where the host name begins with the bucket. */
function addressOf(request: IncomingMessage): { bucket: string; key: string; query: URLSearchParams } {
  const [path = '', query] = (request.url ?? '').split('?');
  const host = (request.headers.host ?? '').replace(/:\d+$/, '');
  const decoded = decodeURIComponent(path.slice(1));
  if (host.endsWith('.localhost')) {
    return {
      bucket: host.slice(0, -'.localhost'.length),
      key: decoded,
      query: new URLSearchParams(query),
    };
  }
  const slash = decoded.indexOf('/');
  return {
    bucket: slash < 0 ? decoded : decoded.slice(0, slash),
    key: slash < 0 ? '' : decoded.slice(slash + 1),
    query: new URLSearchParams(query),
  };
}

function sendObject(request: IncomingMessage, response: ServerResponse, stored: StoredBody): void {
  const { body, etag, modified } = stored;
  const headers = {
    ...stored.headers,
    etag,
    'last-modified': modified.toUTCString(),
    'accept-ranges': 'bytes',
  };
  if (isUnchanged(request, stored)) {
    response.writeHead(304, { etag, 'last-modified': modified.toUTCString() }).end();
    return;
  }
  const range = rangeOf(request.headers.range, body.length);
  if (range === 'unsatisfiable') {
    throw new S3Fault(
      416,
      'InvalidRange',
      'The requested range is not satisfiable',
      {},
      `<ActualObjectSize>${body.length}</ActualObjectSize>`,
    );
  }
  const part = range === null ? body : body.subarray(range.first, range.last + 1);
  const length = { 'content-length': part.length };
  if (range === null) response.writeHead(200, { ...headers, ...length });
  else {
    const contentRange = `bytes ${range.first}-${range.last}/${body.length}`;
    response.writeHead(206, { ...headers, ...length, 'content-range': contentRange });
  }
  response.end(request.method === 'HEAD' ? undefined : part);
}

/** RFC 9110 section 13.2.2: If-Modified-Since counts only without If-None-Match. */
function isUnchanged(request: IncomingMessage, { etag, modified }: StoredBody): boolean {
  const none = request.headers['if-none-match'];
  if (none !== undefined) {
    return none.split(',').some((tag) => ['*', etag].includes(tag.trim().replace(/^W\//, '')));
  }
  const since = Date.parse(request.headers['if-modified-since'] ?? '');
  return Math.floor(modified.getTime() / 1000) * 1000 <= since;
}

/** One range of bytes; null to send the whole, also for what S3 does not understand. */
function rangeOf(
  header: string | undefined,
  length: number,
): { first: number; last: number } | 'unsatisfiable' | null {
  const match = /^bytes=(\d*)-(\d*)$/.exec(header ?? '');
  const [, from = '', to = ''] = match ?? [];
  if (from === '' && to === '') return null;
  const first = from === '' ? Math.max(0, length - Number(to)) : Number(from);
  const last = from === '' || to === '' ? length - 1 : Math.min(Number(to), length - 1);
  return first > last ? 'unsatisfiable' : { first, last };
}

function listing(bucket: string, objects: Map<string, StoredBody>, query: URLSearchParams): string {
  if (query.get('list-type') !== '2') throw notImplemented();
  const prefix = query.get('prefix') ?? '';
  const after = query.get('continuation-token') ?? query.get('start-after') ?? '';
  const limit = Math.min(Number(query.get('max-keys') ?? 1000), 1000);
  const delimiter = query.get('delimiter') ?? '';
  const found = [...objects.keys()].filter((key) => key.startsWith(prefix) && key > after).sort();
  const keys = found.filter((key) => groupOf(key, prefix, delimiter) === null);
  const groups = new Set(found.flatMap((key) => groupOf(key, prefix, delimiter) ?? []));
  const page = keys.slice(0, limit);
  const contents = page.map((key) => {
    const stored = objects.get(key);
    return `<Contents><Key>${xml(key)}</Key><LastModified>${stored?.modified.toISOString()}</LastModified><ETag>${xml(stored?.etag ?? '')}</ETag><Size>${stored?.body.length}</Size><StorageClass>STANDARD</StorageClass></Contents>`;
  });
  const isTruncated = keys.length > page.length;
  const next = isTruncated ? `<NextContinuationToken>${xml(page.at(-1) ?? '')}</NextContinuationToken>` : '';
  const prefixes = [...groups].map(
    (group) => `<CommonPrefixes><Prefix>${xml(group)}</Prefix></CommonPrefixes>`,
  );
  return `<?xml version="1.0" encoding="UTF-8"?>\n<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>${xml(bucket)}</Name><Prefix>${xml(prefix)}</Prefix><KeyCount>${page.length + groups.size}</KeyCount><MaxKeys>${limit}</MaxKeys><IsTruncated>${isTruncated}</IsTruncated>${next}${contents.join('')}${prefixes.join('')}</ListBucketResult>`;
}

/** The prefix that groups a key in a listing by `delimiter`; null if the key is listed itself. Groups come with the first page. */
function groupOf(key: string, prefix: string, delimiter: string): string | null {
  const end = delimiter === '' ? -1 : key.indexOf(delimiter, prefix.length);
  return end < 0 ? null : key.slice(0, end + delimiter.length);
}

function sendXml(response: ServerResponse, element: string, content: string): void {
  response
    .writeHead(200, { 'content-type': 'application/xml' })
    .end(`<?xml version="1.0" encoding="UTF-8"?>\n<${element}>${content}</${element}>`);
}

function notImplemented(): S3Fault {
  return new S3Fault(501, 'NotImplemented', 'This test server does not implement that.');
}

function sendFault(request: IncomingMessage, response: ServerResponse, error: unknown): void {
  const fault = error instanceof S3Fault ? error : new S3Fault(500, 'InternalError', String(error));
  response.writeHead(fault.status, { 'content-type': 'application/xml', ...fault.headers });
  const body = `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${fault.code}</Code><Message>${xml(fault.message)}</Message>${fault.more}<RequestId>TEST</RequestId></Error>`;
  response.end(request.method === 'HEAD' || fault.status === 304 ? undefined : body);
}

function xml(text: string): string {
  const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
  return text.replace(/[&<>"]/g, (character) => entities[character] ?? character);
}
