/** What the platform and a process of PHP say to each other. The process imports nothing else of the platform. */

/** Folders of a website by their paths in the process. */
export interface PhpFolders {
  core: string;
  website: string;
  private: string;
  database: string;
  readOnly: readonly { folder: string; path: string }[];
}

/** First line of the process's input. PHP reads its settings once, before it knows its website. */
export interface PhpProcessStart {
  memoryMb: number;
  uploadMb: number;
  inputVars: number;
  /** The most that the memory of a thread grows to, in MiB. */
  threadMb: number;
  /** The process compiles PHP for later processes, and gets no website. */
  keepsCode?: boolean;
}

/**
 * Second line of the process's input, if it warms up: a page of another website that is like its own. PHP has compiled WordPress by then.
 */
export interface PhpWarmUp {
  folders: PhpFolders;
  /** The page, as PHP code. */
  code: string;
  host: string;
  https: boolean;
}

/** Third line of the input of a process that compiles PHP for later ones: the file for its code. */
export interface PhpCodeFile {
  keepCode: string;
}

/** Last line of the process's input. */
export interface PhpProcessSite {
  folders: PhpFolders;
  prepend: string;
  seconds: number;
  threads: number;
  waitMs: number;
  bodyBytes: number;
  /** Requests with a script, and messages that a visitor has left, must have it. */
  scriptKey: string;
  /** An expression for paths of programs that never run. */
  closedPrograms: string;
  /** Sockets, as paths in the process. */
  listen: string;
  services: string;
}

/** The part of it that the threads get. PHP runs in them, so they do not get the key. */
export type PhpThreadSite = Omit<PhpProcessSite, 'scriptKey'>;

/** A line of the process's output. */
export type PhpProcessLine =
  | { state: 'ready'; version: string }
  | { state: 'warm'; error: string | null }
  | { state: 'kept' }
  | { state: 'serving' };

/** Headers of a request to the process that say what the visitor's request was. Others with this prefix are dropped. */
export const PROCESS_PREFIX = 'x-homeport-process-';
export const HEADER = {
  /** `https` or `http`. */
  scheme: `${PROCESS_PREFIX}scheme`,
  client: `${PROCESS_PREFIX}client`,
  /** Seconds of a script. The body is then a {@link ScriptBody}. */
  script: `${PROCESS_PREFIX}script`,
  /** Of a request that runs a program. The body is then a {@link ProgramBody}, and the answer has frames (process/frames.ts). */
  program: `${PROCESS_PREFIX}program`,
  /** Id of a visitor's request. */
  visit: `${PROCESS_PREFIX}visit`,
  /** Id of a request whose visitor has left. Such a message has nothing else, but the key. */
  left: `${PROCESS_PREFIX}left`,
  scriptKey: `${PROCESS_PREFIX}script-key`,
  /** Of an answer: why PHP gave none. */
  failure: `${PROCESS_PREFIX}failure`,
  /** Of an answer: exit code of a script. */
  exit: `${PROCESS_PREFIX}exit`,
} as const;

export interface ScriptBody {
  code: string;
  input: string;
  outputBytes: number;
  network: boolean;
}

/** A program of PHP that runs as on a command line, in a separate thread. */
export interface ProgramBody {
  /** Paths and arguments after `php`. */
  arguments: readonly string[];
  environment: Readonly<Record<string, string>>;
  /** The working folder, as PHP sees it. */
  folder: string;
  /** PHP code that runs after that of the website and before the program, without `<?php`. */
  prepend: string;
  /** Its standard input. Left out: a reading fails. */
  input?: string;
}

/** Kinds of the frames that answer it. */
export const FRAME = { stdout: 1, stderr: 2, exit: 3, failure: 4 } as const;
/** Bytes before the content of a frame: its kind, and its length in big-endian order. */
export const FRAME_HEAD_BYTES = 5;

/** First line of a connection to the services' socket. Mail follows it; a TCP connection follows the answer. */
export type ServiceRequest =
  | { service: 'connect'; host: string; port: number }
  | { service: 'mail'; arguments: string[] };

/** The line that answers it. */
export const SERVICE_DONE = 'ok\n';
export const SERVICE_REFUSED = 'no\n';
