/** The PHP that runs the websites of the embedded host. */
export interface EmbeddedPhp {
  /** `major.minor`. */
  version: string;
  /** The PHP-FPM of the machine, or WebAssembly. */
  engine: 'machine' | 'wasm';
  /** Why it is not that of the machine, as a clause; null if it is, or if none was asked for. */
  notMachine: string | null;
}

/** The PHP that runs WordPress in the embedded host, or why there is none, in a sentence. */
export type WordPressHere = EmbeddedPhp | WordPressLacking;

/** Why this process cannot run WordPress, in a sentence. */
export interface WordPressLacking {
  reason: string;
  /** Whether another attempt can help, because the machine was busy, for example. Left out: not before the operator does something. */
  mayPass?: boolean;
}

/** The versions of new websites in the embedded host. */
export interface PreparedWordPress {
  wordpress: string;
  php: EmbeddedPhp;
}

/** The WordPress of a website is being downloaded, which takes longer than one attempt. A later attempt finds it. */
export class StillFetchingError extends Error {
  override readonly name = 'StillFetchingError';
}
