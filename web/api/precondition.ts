/** The header of a change that depends on the version of its resource. */
export interface Precondition {
  'If-Match'?: string;
}

/**
 * Returns the precondition that a resource is as in this response. Proxies that compress a response make its tag weak. The server's tags are
 * strong, and a weak one never matches.
 */
export function preconditionOf({ headers }: Response): Precondition {
  const tag = headers.get('etag')?.replace(/^W\//, '');
  return tag === undefined ? {} : { 'If-Match': tag };
}
