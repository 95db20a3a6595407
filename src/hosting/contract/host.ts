import type { DatabaseAccess } from './database-access.ts';
import type { WebsiteImports } from './imports.ts';
import type { InstallRef } from './install-ref.ts';
import type { Inventory } from './inventory.ts';
import type { LogSource } from './logs.ts';
import type { MailHost, MailQueueControl, MailState } from './mail.ts';
import type { PhpBounds, PhpLimits } from './php-limits.ts';
import type { Runtime } from './runtime.ts';
import type { MeasuredStorage, UsageSource } from './usage.ts';
import type { WordPressMarks, WordPressReader } from './wordpress.ts';
import type { WordPressChanger } from './wordpress-changes.ts';
import type { ReleaseFetcher, WordPressUpdater } from './wordpress-updates.ts';
import type { WpCliRunner } from './wp-cli.ts';

export type { InstallRef } from './install-ref.ts';

import type { WebsiteRules } from './website-rules.ts';

/**
 * The only interface between the control plane and websites (docs/architecture.md). The control plane states the desired result, never
 * the steps. A host knows no database; {@link HostQuestions} lists everything it may ask the control plane.
 *
 * Every operation except {@link WpCliRunner} is idempotent: jobs run at least once, so each operation reaches the same state after an
 * interrupted run.
 */
export interface Host
  extends DatabaseAccess,
    LogSource,
    MailHost,
    WebsiteImports,
    WordPressChanger,
    WordPressReader,
    WordPressUpdater,
    WpCliRunner {
  /** Starts serving: binds the addresses of edge and SSH gateway and loads the applied websites. */
  start(): Promise<void>;
  /** Stops gracefully: accepts no connections and finishes open ones within a few seconds. */
  stop(): Promise<void>;

  /**
   * Brings a website to exactly `state`: folder, files (a starter page in an empty folder), host names, redirects, certificates,
   * offload. Resolves once the edge serves that state. Never touches the customer's files. `report`: called while a host in this process
   * downloads WordPress.
   */
  apply(state: InstallState, signal?: AbortSignal, report?: ReportProgress): Promise<AppliedInstall>;
  /** Deletes the website with its files, caches and snapshots. A missing website is success. */
  remove(install: RemovedInstall): Promise<void>;
  /**
   * Stops serving a website that is being deleted, and ends its processes. Its data stays, so that a last snapshot can be made. A
   * missing website is success.
   */
  retire(install: RemovedInstall): Promise<void>;
  /** Deletes the snapshots that `remove` kept. Success without any; rejects if the website exists. */
  removeBackups(install: RemovedInstall): Promise<void>;
  /** Empties one cache of this install. Effective when it resolves. */
  purge(install: InstallRef, cache: CacheKind): Promise<void>;
  /**
   * Purges single pages: those with these paths, under every host name, with every query, with or without a final `/`. Paths count
   * decoded (`isPagePath`). May purge more. Effective when it resolves.
   */
  purgePages(install: InstallRef, paths: readonly string[]): Promise<void>;
  /**
   * Replaces URLs with a former main name or scheme in the website's database by those of its present address. Without any, it does
   * nothing. Rejects with a {@link PermanentHostError} if the database cannot be changed; the host then forgets the former names.
   */
  replaceUrls(install: InstallRef, signal?: AbortSignal): Promise<void>;

  /**
   * Makes a consistent snapshot of the website under `backupId`, reads it back and verifies every checksum before it
   * resolves. Replaces a partial snapshot of an interrupted run.
   */
  snapshot(
    install: InstallRef,
    backupId: string,
    signal?: AbortSignal,
    report?: ReportProgress,
  ): Promise<Snapshot>;
  /**
   * Restores the website exactly as in the snapshot. Verifies the whole snapshot before it touches the website, and never leaves it half
   * restored. Parts that are left out stay as they are. If it fails before it replaces anything, it rejects with a
   * {@link RefusedRestoreError} or an {@link UnchangedWebsiteError}.
   */
  restore(install: InstallRef, backupId: string, options?: RestoreOptions): Promise<Snapshot>;
  /** Deletes a complete or partial snapshot. A missing snapshot is success. */
  discardSnapshot(install: InstallRef, backupId: string): Promise<void>;

  /** Measures the files and the database of a website. */
  measureStorage(install: InstallRef, signal?: AbortSignal): Promise<MeasuredStorage>;

  /**
   * Creates a login to the WordPress of a website, as the user of that name, or as the oldest administrator. Visiting
   * {@link LOGIN_PATH} with the token under a name of the website signs in, once and until it expires.
   */
  createLogin(install: InstallRef, user: string | null): Promise<WordPressLogin | LoginRefused>;

  /**
   * Writes a snapshot as one `.tar.gz` for download, with the files and the database dump, and verifies the snapshot meanwhile.
   * Replaces an earlier archive of that id.
   */
  pack(
    install: InstallRef,
    ids: { backupId: string; archiveId: string },
    signal?: AbortSignal,
  ): Promise<PackedArchive>;
  /**
   * Reads at most {@link MOST_READ_BYTES} of a packed archive; fewer bytes at its end. Rejects with a {@link PermanentHostError} if
   * there is no such archive.
   */
  readPacked(
    install: InstallRef,
    archiveId: string,
    part: { offset: number; length: number },
  ): Promise<Buffer>;
  /** Deletes a packed archive. A missing one is success. */
  discardPacked(install: InstallRef, archiveId: string): Promise<void>;

  /**
   * Publishes a text at exactly one host name and path, over HTTP and HTTPS, before any redirect, until it is withdrawn or a day has
   * passed. Active when it resolves; replaces an earlier text. No website needs to have the name. Rejects with a
   * {@link PermanentHostError} if the proof is invalid.
   */
  publish(proof: Proof): Promise<void>;
  /** Withdraws a published text. A missing one is success. */
  withdraw(proof: Pick<Proof, 'hostname' | 'path'>): Promise<void>;
}

/** A host's identity and capabilities. */
export interface HostDescription {
  /** UUID, stored in the host's folder. */
  id: string;
  /** The most installs that the host accepts. */
  capacity: number;
  /** `major.minor`, newest first; empty without PHP. */
  phpVersions: string[];
  /** Newest first; empty without WordPress. */
  wordpressVersions: string[];
  /** Install names that are taken by users of the machine. */
  reservedNames: string[];
  /** Public ports of websites and of SSH with SFTP. */
  ports: { http: number; https: number; ssh: number };
  /** UUID of the host's platform, null before it has one; hosts of earlier versions omit it. */
  platform?: string | null;
  /** Public SSH host keys, each `type base64`; hosts of earlier versions omit them. */
  sshHostKeys?: string[];
  /** Limits of PHP that installs can have; omitted without PHP and by hosts of earlier versions. */
  php?: PhpBounds;
}

/** A host in a separate process, possibly on another machine. */
export interface HostMachine
  extends Host,
    Inventory,
    UsageSource,
    MailQueueControl,
    WordPressMarks,
    ReleaseFetcher {
  describe(): Promise<HostDescription>;
  /**
   * Compares the machine with `expected`, the installs that the control plane has placed on it. With `repair`, repairs differences where
   * possible.
   */
  inspect(expected: InstallRef[], repair: boolean): Promise<Difference[]>;
  /**
   * Downloads the newest WordPress from the configured source, or from `source`, and returns its version. Another process may pass only
   * `official` or `debian`, because root would read a path.
   */
  addWordpress(source: string | null): Promise<string>;
  /** Fetches the newest WP-CLI from the configured source, or from `source`, and returns its version. Sources as for WordPress. */
  addWpCli(source: string | null): Promise<string>;
}

/** A difference between a machine and its desired state. */
export interface Difference {
  /** The affected part: `install shop: unix user`, `nginx`. */
  thing: string;
  /** The problem, in one sentence. */
  message: string;
  /** Whether the repair succeeded; null without a repair or a problem. */
  mended: boolean | null;
  /** The operator's next step; null if there is none. If `mended` is null too, the part was not checked and the message says why. */
  remedy: string | null;
}

/** RFC 8555 section 8.3. */
export const ACME_CHALLENGE_PREFIX = '/.well-known/acme-challenge/';
/** The edge proves below this path that requests for a name reach it. It never serves customer content there. */
export const DOMAIN_CHECK_PREFIX = '/.well-known/homeport-check/';

/** Where WordPress exchanges a login, with its token in the query. It works before other rules of the website for paths. */
export const LOGIN_PATH = '/.well-known/homeport-login';

export interface WordPressLogin {
  /** 256 random bits as base64url. The host keeps a hash only. */
  token: string;
  /** ISO 8601 in UTC. */
  expiresAt: string;
  /** The user name in WordPress. */
  user: string;
}

export interface LoginRefused {
  /** The website has no such user, or it cannot be signed in to at all. */
  refused: 'unknown_user' | 'website';
  /** In one or two sentences, for the website's owner. */
  reason: string;
}

/** A published text that proves control of a host name. */
export interface Proof {
  /** ASCII, lower case; no wildcard. */
  hostname: string;
  /** {@link ACME_CHALLENGE_PREFIX} or {@link DOMAIN_CHECK_PREFIX} and 1 to 128 of `A-Z a-z 0-9 _ -`. */
  path: string;
  /** 1 to 1,024 bytes in UTF-8. */
  text: string;
}

/** An install to delete. The control plane may have forgotten it already. */
export interface RemovedInstall extends InstallRef {
  /** With several machines: the id of its host, null without one, undefined if unknown. */
  hostId?: string | null;
  /** Keeps its snapshots; false if left out. */
  keepBackups?: boolean;
}

/** The complete desired state of a website. */
export interface InstallState extends InstallRef {
  /** The main host name, for mails and the website's own requests; one of `hostnames`. */
  primaryHostname: string;
  /** Host names of this website, without those that another install serves. */
  hostnames: Hostname[];
  /** Paths served from object storage; null for none. */
  offload: OffloadRules | null;
  /** `major.minor` that the host offers. Null keeps the current version; a new website gets the newest. */
  phpVersion: string | null;
  /** A WordPress version of the host. Null keeps the current version; a new website gets the newest. */
  wordpressVersion: string | null;
  /** Limits of its mail; those of the host if left out or null. */
  mail?: MailState | null;
  /** Null or omitted: the usual rules, which hosts of earlier versions have. */
  rules?: WebsiteRules | null;
  /** The limits of PHP; null or left out for the host's defaults. */
  php?: PhpLimits | null;
  /** The runtime of the website. Left out: WordPress on a Linux host, files in the embedded host. */
  runtime?: Runtime;
}

export interface Hostname {
  /** ASCII, lower case; the `*` of `*.example.com` matches one label. */
  name: string;
  /** Host name to redirect to (301, path and query kept); null to serve the website. */
  redirectTo: string | null;
  /** Redirects HTTP to HTTPS (301) while the certificate is valid. */
  forceHttps: boolean;
  /** Null for the edge's self-signed default certificate. */
  certificate: ServedCertificate | null;
}

export interface ServedCertificate {
  /** PEM, leaf first. */
  chain: string;
  /** PEM, PKCS#8. Never logged; if a host writes it unsealed, only root can read it. */
  key: string;
  /** Last valid time: ISO 8601 in UTC, with milliseconds. */
  notAfter: string;
}

export interface OffloadRules {
  bucket: string;
  region: string;
  paths: OffloadPath[];
}

export interface OffloadPath {
  /** URL path prefix, begins with `/`, matched at segment borders. */
  path: string;
  /** Prefixes below `path` that stay on the install. */
  excludedPaths: string[];
  /** `break`: the edge fetches the object and serves it under the visitor's URL; `permanent`: 301 to the bucket. */
  redirectType: 'break' | 'permanent';
}

export const CACHE_KINDS = ['object', 'page', 'cdn'] as const;
export type CacheKind = (typeof CACHE_KINDS)[number];

export interface AppliedInstall {
  /** PHP version of the website; null without PHP. */
  phpVersion: string | null;
  /** WordPress version of the website; null without WordPress. */
  wordpressVersion: string | null;
  /** Addresses that never change while the website exists; null if the host promises none. */
  stableIps: string[] | null;
  /** Whether `replaceUrls` has something to do; hosts of earlier versions omit it. */
  hasFormerUrls?: boolean;
}

export interface RestoreOptions {
  /** The install of the snapshot, if it is another one. The website keeps the names of its own install. */
  from?: InstallRef;
  /** Default: everything. */
  parts?: RestoredParts | undefined;
  /** The WordPress of the snapshot, which the website gets again. Default: it keeps its present one. */
  wordpressVersion?: string | undefined;
  signal?: AbortSignal | undefined;
  report?: ReportProgress | undefined;
}

/**
 * Reports the bytes that are done. `total`: null if unknown. `step`: of work that has several. Called often, and must not throw.
 */
export type ReportProgress = (done: number, total: number | null, step?: string) => void;

/** The parts of a website that a restore replaces. */
export interface RestoredParts {
  files: boolean;
  /** The whole database, nothing of it, or these tables. A host without databases accepts no names of tables. */
  database: 'all' | 'none' | readonly string[];
  /** Whether named tables that the backup lacks are dropped. Default: the restore is refused. */
  dropAbsent?: boolean | undefined;
}

export const ALL_PARTS: RestoredParts = { files: true, database: 'all' };

/** The most bytes that one call of `readPacked` returns. */
export const MOST_READ_BYTES = 1024 * 1024;

/** A `.tar.gz` for download. */
export interface PackedArchive {
  bytes: number;
  /** Of the `.tar.gz`, lower-case hex. */
  sha256: string;
}

export interface Snapshot {
  /** Size of the archive in bytes. */
  bytes: number;
  /** Number of regular files in it. */
  files: number;
  /** SHA-256 of the archive, lower-case hex. */
  sha256: string;
}

/** Questions that every host may ask the control plane. */
export interface SshQuestions {
  /**
   * Returns the owner of a key, if the owner may access the files of this install now; otherwise null. Hosts ask at log-in and again
   * during a connection, so that removing a key or permission takes effect at once.
   */
  sshLogin(installName: string, fingerprintSha256: string): Promise<SshLogin | null>;
}

/** Further questions of a host in a separate process. */
export interface HostQuestions extends SshQuestions {
  /**
   * The password of an install's backup repository. The control plane derives it from its sealing key, so backups outlive their machine
   * and no machine stores the password.
   */
  backupPassword(installId: string): Promise<string>;
}

export interface SshLogin {
  install: InstallRef;
  userId: string;
}

/** A failure that no retry can fix, such as a corrupt archive or a missing install. */
export class PermanentHostError extends Error {
  override name = 'PermanentHostError';
}

/** The website itself is at fault: it answers, but not with a page of WordPress. The message names no other install. */
export class BrokenWebsiteError extends PermanentHostError {
  override name = 'BrokenWebsiteError';
}

/** A backup is damaged or missing. */
export class LostBackupError extends PermanentHostError {
  override name = 'LostBackupError';
}

/**
 * A restore failed before it replaced anything, and a retry does not help soon. `shown`: the reason without other installs and their
 * files. `isLost`: the backup is damaged or missing, so that no retry helps.
 */
export class RefusedRestoreError extends PermanentHostError {
  override name = 'RefusedRestoreError';
  readonly shown: string;
  readonly isLost: boolean;
  constructor(
    message: string,
    { shown = message, isLost = false, ...options }: ErrorOptions & { shown?: string; isLost?: boolean } = {},
  ) {
    super(message, options);
    this.shown = shown;
    this.isLost = isLost;
  }
}

/** A restore failed before it replaced anything. A retry may succeed. */
export class UnchangedWebsiteError extends Error {
  override name = 'UnchangedWebsiteError';
}

/** The failure of a restore that has replaced nothing. `shown`: see {@link RefusedRestoreError}. */
export function asUnchanged(cause: unknown, shown?: string): Error {
  if (cause instanceof PermanentHostError) {
    const isLost = cause instanceof LostBackupError;
    return new RefusedRestoreError(cause.message, {
      ...{ cause, isLost },
      ...(shown === undefined ? {} : { shown }),
    });
  }
  return new UnchangedWebsiteError(cause instanceof Error ? cause.message : String(cause), { cause });
}

/** Whether a restore has failed before it replaced anything. */
export const isUnchanged = (error: unknown): boolean =>
  error instanceof RefusedRestoreError || error instanceof UnchangedWebsiteError;

/** An import was refused for a reason that the user can fix. Nothing was replaced. */
export class RefusedImportError extends PermanentHostError {
  override name = 'RefusedImportError';
}
