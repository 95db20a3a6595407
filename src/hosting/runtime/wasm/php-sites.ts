import type { Readable } from 'node:stream';
import type { Logger } from 'pino';
import type { ListenAddress } from '../../../network/connections/inherited-sockets.ts';
import type { EmbeddedPhp } from '../../contract/embedded-wordpress.ts';
import type { Destinations } from './destinations.ts';
import type { LoopbackConnections } from './loopback-connections.ts';

/** A website that PHP runs. The folders are absolute paths of the machine. */
export interface PhpSite {
  /** Id of the install. */
  id: string;
  /** WordPress core, which many sites share. PHP reads it and never writes to it. */
  core: string;
  /**
   * Document root of the website: `wp-content`, `wp-config.php` and other files. PHP sees it as `/wordpress`, with `wp-admin`,
   * `wp-includes` and the files beside them from the core. A file of the website covers the core's file of that name.
   */
  website: string;
  /** Folder outside what PHP sees as the document root, which it sees as `/private`: `tmp` and PHP's error log. */
  private: string;
  /** Folder of the website's database, which PHP sees as `/database`. */
  database: string;
  /** Further folders that PHP only reads, by the path that PHP sees, such as `/homeport/mu-plugins`. */
  readOnly: Readonly<Record<string, string>>;
  /** PHP code that runs before each script, with its `<?php`. The website's own files cannot change what it defines. */
  prepend: string;
  limits: PhpSiteLimits;
}

export interface PhpSiteLimits {
  /** Memory of a request in MiB (`memory_limit`). A page that needs more ends with an error of its own. */
  memoryMb: number;
  /** Time of a request in seconds. The thread of a slower request is ended. */
  seconds: number;
  /** Largest upload in MiB. */
  uploadMb: number;
  /** Fields of a form (`max_input_vars`). */
  inputVars: number;
  /** Requests at the same time. WordPress requests itself, so it needs 2. */
  threads: number;
}

/** A request of a visitor, as the edge accepted it. */
export interface PhpRequest {
  method: string;
  /** Path and query as received. */
  target: string;
  /** Names in lower case. Those of the connection, such as `connection`, are left out. */
  headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Null: the request has no body. */
  body: Readable | null;
  /** Whether the visitor uses HTTPS. */
  https: boolean;
  clientAddress: string;
  /** Whether a page of the website asks, and waits for the answer. */
  isOwn?: boolean;
  /** Host name and port of the visitor's address bar; PHP's `HTTP_HOST`. */
  host: string;
  /** Aborts when the visitor has left: PHP then ends at its next output, unless it has called `ignore_user_abort(true)`. */
  left?: AbortSignal;
}

export interface PhpResponse {
  status: number;
  /** Names in lower case. */
  headers: Record<string, string | string[]>;
  /** Destroy it to end the request. An error means that PHP ended before the page did. */
  body: Readable;
}

/** Result of a script. */
export interface PhpScriptResult {
  /** What the script printed, up to {@link PhpScript.outputBytes}. */
  output: string;
  /** PHP's errors and warnings. */
  error: string;
  exit: number;
}

/** PHP code of the platform that runs on a website, such as a step of WordPress. */
export interface PhpScript {
  /** With its `<?php`. Runs in `/wordpress` after the site's `prepend`, with the platform's limits instead of the site's. */
  code: string;
  /** What it reads from `php://input`. Secrets go here. */
  input?: string;
  /** Host name and port that WordPress believes to be called by. */
  host: string;
  https: boolean;
  /** Time in seconds. Default: 60. */
  seconds?: number;
  /** Longest output. More of it fails the script. Default: 16 MiB. */
  outputBytes?: number;
  /** Without it, connections of the script fail, and its mail is dropped as if it were sent. Default: true. */
  network?: boolean;
}

/** A program of PHP that runs on a website as on a command line, in a separate thread. */
export interface PhpProgram {
  /** Paths and arguments after `php`. No command line of the machine shows them. */
  arguments: readonly string[];
  environment: Readonly<Record<string, string>>;
  /** The working folder, as PHP sees it. */
  folder: string;
  /** PHP code that runs after the site's `prepend` and before the program, without `<?php`. */
  prepend: string;
  /** Its standard input. Left out: a reading fails. */
  input?: string;
}

/** Takes what a program writes. The program waits for the promises. */
export type TakeProgramOutput = Record<'stdout' | 'stderr', (chunk: Buffer) => void | Promise<void>>;

/** The PHP of websites with its whole version, or why PHP cannot run here, in a sentence for the operator. `mayPass`: whether another attempt can help. */
export type PhpAvailability = EmbeddedPhp | { reason: string; mayPass?: boolean };

/**
 * - `busy`: all processes or threads are in use and the wait was too long; `retryAfter` says when to try again.
 * - `timeout`: the request exceeded its time.
 * - `memory`: the request exceeded the memory of its thread.
 * - `too_large`: the body is larger than the site accepts.
 * - `failed`: PHP ended without an answer.
 * - `closed`: data of the website is missing.
 */
export type PhpFailureReason = 'busy' | 'timeout' | 'memory' | 'too_large' | 'failed' | 'closed';

/** A request or script without an answer of PHP. The edge answers 503, 504, 500, 413, 502 or 503. */
export class PhpFailure extends Error {
  readonly reason: PhpFailureReason;
  /** Seconds. */
  readonly retryAfter: number;

  constructor(reason: PhpFailureReason, message: string, retryAfter = 0) {
    super(message);
    this.name = 'PhpFailure';
    this.reason = reason;
    this.retryAfter = retryAfter;
  }
}

/** An email that a website sent, as `sendmail -t -i` would get it. */
export interface PhpMail {
  siteId: string;
  /** The message with its header. */
  message: Buffer;
  /** Arguments of sendmail, such as `-f` and the address of the sender. */
  arguments: readonly string[];
}

/** What the spare process does before it has a website, so that WordPress is compiled by then. */
export interface WarmUpPage {
  /** A website that PHP cannot change meanwhile. The spare is for websites with its core and its further folders. */
  pattern: PhpSite;
  /** PHP code that shows a page of it. */
  code: string;
  host: string;
  https: boolean;
}

/** The processes of all websites together. */
export interface PhpSitesFigures {
  running: number;
  /** Reserved for the running ones. */
  memoryMb: number;
  memoryLimitMb: number;
  /** How often a process ended by itself. The next request starts another. */
  restarts: number;
  /** Requests that wait for a process. */
  waiting: number;
}

/** Runs the PHP of websites: a process for each site, started by its first request and stopped when idle. */
export interface PhpSites {
  /** Finds the PHP of websites. Starts a process at most once. */
  available(): Promise<PhpAvailability>;
  /** Keeps a spare that has shown this page. Resolves once there is one, or cannot be. */
  warmUp(page: WarmUpPage): Promise<void>;
  /**
   * Answers a request. Starts the site's process if needed. A site whose folders or limits changed gets a new process.
   *
   * @throws PhpFailure if PHP gave no answer
   */
  request(site: PhpSite, request: PhpRequest, signal?: AbortSignal): Promise<PhpResponse>;
  /**
   * Runs a script in the site's process.
   *
   * @throws PhpFailure if it did not end
   */
  run(site: PhpSite, script: PhpScript, signal?: AbortSignal): Promise<PhpScriptResult>;
  /**
   * Runs a program in the site's process, without a time limit. Returns the exit code, 255 if PHP crashed. The
   * signal ends it.
   *
   * @throws PhpFailure `busy` if it was not started, `failed` if the process ended
   */
  runProgram(
    site: PhpSite,
    program: PhpProgram,
    take: TakeProgramOutput,
    signal?: AbortSignal,
  ): Promise<number>;
  /** Ends the site's process if it has nothing to do. */
  rest(siteId: string): Promise<void>;
  /** Ends the site's process after its running requests, at the latest after `graceMs`, and waits. Nothing of it writes files then. */
  stop(siteId: string, graceMs?: number): Promise<void>;
  /** Ends the site's process as {@link stop} does, and starts none until `work` has ended. Requests and scripts are `busy` meanwhile. */
  withoutProcess<Result>(siteId: string, work: () => Promise<Result>): Promise<Result>;
  /**
   * Ends the site's process after its running requests, within their time, and lets new ones wait until `work` has ended. Then nothing of
   * the site writes files. The signal ends the wait for the running requests.
   */
  atRest<Result>(siteId: string, work: () => Promise<Result>, signal?: AbortSignal): Promise<Result>;
  /** True while {@link withoutProcess} keeps the site stopped. */
  isHeld(siteId: string): boolean;
  /** The processes of websites, without the spare. */
  readonly figures: PhpSitesFigures;
  /** Ends all processes. */
  close(): Promise<void>;
}

/** A host and port that a website connects to, as PHP named them. */
export interface PhpConnection {
  siteId: string;
  host: string;
  port: number;
}

/** Finds the addresses of a host name. */
export type LookUp = (host: string) => Promise<string[]>;

/** Folders that contain the folders of all sites. They need not exist yet. */
export interface PhpRoots {
  /** Contain the websites and their private folders, and nothing that a process runs. */
  writable: readonly string[];
  /** Contain the cores and further folders. */
  readable: readonly string[];
}

export interface PhpSitesOptions {
  /** Folder of the runtime. It holds nothing that a restart needs. Created on first use. */
  folder: string;
  /** Folder of the machine code of PHP, for later servers. */
  codeFolder: string;
  /** A site without requests for this long is stopped. */
  idleMs: number;
  /** Without bubblewrap, Node lets every process use them. */
  roots: PhpRoots;
  /** Memory of all processes in MiB, by which they are limited. */
  memoryMb: number;
  /** How long a request waits for a process and for a thread, each. */
  waitMs: number;
  /** Whether a process without a site waits for the next start. */
  spare: boolean;
  /** Where websites may connect to. */
  mayConnect: Destinations;
  /** Default: the system's resolver. */
  lookUp?: LookUp;
  /** Where a website's requests to itself go: the edge's address. Undefined for any other host and port. */
  loopback(connection: PhpConnection): ListenAddress | undefined;
  /** Learns the connections that go there. */
  loopbacks: Pick<LoopbackConnections, 'add'>;
  /** Takes an email. A rejection is an error of `mail()` in PHP. */
  deliverMail(mail: PhpMail): Promise<void>;
  /** Until a lost PHP of the machine is looked for again. Default: a minute. */
  lookMs?: number;
  /** Called after another PHP was chosen, as after an update of the machine. Default: does nothing. */
  onChosen?(): void;
  log: Logger;
}
