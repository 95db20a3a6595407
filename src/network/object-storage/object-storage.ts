/** Object storage as offload needs it (S3 protocol). The client is in s3.ts; the edge and the jobs see only this. */
export interface ObjectStorage {
  /**
   * Fetches one object, or null if the bucket has none under that key. Times out after 30 s without progress. Errors: {@link ObjectStorageError}.
   */
  get(object: ObjectRef, conditions?: ObjectConditions): Promise<StoredObject | null>;
  /** The address at which anyone may fetch the object, for a 301. */
  publicUrl(object: ObjectRef): string;
}

export interface ObjectRef {
  bucket: string;
  region: string;
  /** Without a leading `/`. */
  key: string;
}

/** Taken over from the visitor's request, RFC 9110 sections 13 and 14. */
export interface ObjectConditions {
  method?: 'GET' | 'HEAD';
  range?: string;
  ifNoneMatch?: string;
  ifModifiedSince?: string;
}

export interface StoredObject {
  /** 200, 206, 304 or 416. */
  status: number;
  /**
   * Lower-case names, only those that describe the content: content-type, -length, -range, -encoding, -disposition and
   * -language, etag, last-modified, accept-ranges, cache-control, expires.
   */
  headers: Record<string, string>;
  /** Null for HEAD, 304 and 416. Must be read to its end or destroyed. */
  body: import('node:stream').Readable | null;
}

/** Why the object could not be fetched, in a sentence that names what to mend and no secret. */
export class ObjectStorageError extends Error {
  override name = 'ObjectStorageError';
}
