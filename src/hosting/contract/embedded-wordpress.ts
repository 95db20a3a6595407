/** The version of PHP that runs WordPress in the embedded host, `major.minor`, or why there is none, in a sentence. */
export type WordPressHere = { version: string } | WordPressLacking;

/** Why this process cannot run WordPress, in a sentence. */
export interface WordPressLacking {
  reason: string;
  /** Whether another attempt can help, because the machine was busy, for example. Left out: not before the operator does something. */
  mayPass?: boolean;
}

/** The versions of new websites in the embedded host. */
export interface PreparedWordPress {
  wordpress: string;
  /** `major.minor`. */
  php: string;
}

/** The WordPress of a website is being downloaded, which takes longer than one attempt. A later attempt finds it. */
export class StillFetchingError extends Error {
  override readonly name = 'StillFetchingError';
}
