/** Object storage for offload. s3.ts implements it; the edge and the jobs use only this interface. */
export interface ObjectStorage {
  /**
   * Fetches one object, or null if the key does not exist. Times out after 30 s without progress. Throws
   * {@link ObjectStorageError}.
   */
  get(object: ObjectRef, conditions?: ObjectConditions): Promise<StoredObject | null>;
  /** The public URL of the object, as target of a 301. */
  publicUrl(object: ObjectRef): string;
}

export interface ObjectRef {
  bucket: string;
  region: string;
  /** Without a leading `/`. */
  key: string;
}

/** Conditions from the visitor's request (RFC 9110 sections 13 and 14). */
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
   * Content headers only, with lower-case names: content-type, -length, -range, -encoding, -disposition and -language, etag,
   * last-modified, accept-ranges, cache-control, expires.
   */
  headers: Record<string, string>;
  /** Null for HEAD, 304 and 416. Must be read to its end or destroyed. */
  body: import('node:stream').Readable | null;
}

/** A failed request to the object storage. The message says what to fix and contains no secret. */
export class ObjectStorageError extends Error {
  override name = 'ObjectStorageError';
}
