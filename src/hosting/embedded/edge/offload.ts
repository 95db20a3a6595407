import type {
  ObjectRef,
  ObjectStorage,
  StoredObject,
} from '../../../network/object-storage/object-storage.ts';
import { type OffloadRule, offloadType } from '../../policy/offload-rule.ts';
import type { Offload } from '../host-folder/vhost.ts';
import { timed } from './answer-record.ts';
import { codedStream } from './compressed-stream.ts';
import { type Exchange, sendRedirect, sendStream } from './exchange.ts';
import { rangeHolds } from './file-response.ts';
import type { SitePath } from './request-target.ts';

/** The object that holds a path's content, and how the visitor gets it. */
export interface Offloaded {
  object: ObjectRef;
  redirectType: OffloadRule['type'];
}

/** The offload target of a path, or null if it stays on the install. */
export function offloadedTo(offload: Offload | null, path: SitePath): Offloaded | null {
  const redirectType = offload && offloadType(offload.rules, path);
  if (offload === null || redirectType === null) return null;
  return { object: { bucket: offload.bucket, region: offload.region, key: path.relative }, redirectType };
}

/** Object headers that are passed on to visitors. */
const SHOWN = new Set([
  'accept-ranges',
  'cache-control',
  'content-disposition',
  'content-encoding',
  'content-language',
  'content-length',
  'content-range',
  'content-type',
  'etag',
  'expires',
  'last-modified',
]);

/**
 * Answers with an object: by a redirect to the bucket, or with its bytes under the visitor's own URL. Returns false, with
 * nothing sent, if the bucket has no such object. Rejects if the storage fails (nothing sent, unless the response has
 * begun) or the visitor disconnects.
 */
export async function serveObject(
  exchange: Exchange,
  { object, redirectType }: Offloaded,
  storage: ObjectStorage,
): Promise<boolean> {
  if (redirectType === 'permanent') {
    sendRedirect(exchange, storage.publicUrl(object) + exchange.target.query);
    return true;
  }
  const stored = await timed(
    exchange.response,
    () => fetchObject(exchange, object, storage),
    (found) => found?.body,
  );
  if (stored === null) return false;
  const shown = Object.fromEntries(Object.entries(stored.headers).filter(([name]) => SHOWN.has(name)));
  const { coding, head } = codedStream(exchange.request.headers, stored.status, shown);
  const headers = { ...head, 'X-Cache': 'BYPASS', 'X-Content-Type-Options': 'nosniff' };
  if (stored.body === null) {
    exchange.response.writeHead(stored.status, headers).end();
    return true;
  }
  const length = stored.headers['content-length'];
  await sendStream(
    exchange,
    stored.status,
    headers,
    stored.body,
    length === undefined ? null : Number(length),
    coding,
  );
  return true;
}

async function fetchObject(
  { method, request }: Exchange,
  object: ObjectRef,
  storage: ObjectStorage,
): Promise<StoredObject | null> {
  const { range, 'if-none-match': ifNoneMatch, 'if-modified-since': ifModifiedSince } = request.headers;
  const conditions = {
    method,
    // Tags of compressed answers are weak, those of the storage are not.
    ...(ifNoneMatch === undefined ? {} : { ifNoneMatch: ifNoneMatch.replaceAll('W/"', '"') }),
    ...(ifModifiedSince === undefined ? {} : { ifModifiedSince }),
  };
  if (range === undefined || method === 'HEAD') return storage.get(object, conditions);
  const part = await storage.get(object, { ...conditions, range });
  // S3 does not support If-Range: if the visitor has another version, the whole object is fetched again.
  if (
    part === null ||
    rangeHolds(request.headers['if-range'], part.headers.etag, part.headers['last-modified'])
  ) {
    return part;
  }
  part.body?.destroy();
  return storage.get(object, conditions);
}
