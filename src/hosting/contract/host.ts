import type { Inventory } from './inventory.ts';

/**
 * The one interface through which the control plane touches websites (docs/architecture.md). It says what should
 * be, never how. A host knows websites and no database; everything it may ask back is in {@link HostQuestions}.
 *
 * Every operation is idempotent: jobs run at least once, so each must end in the same state whatever an earlier,
 * interrupted run left behind.
 */
export interface Host {
  /** Begins to serve: binds the edge's and the SSH gateway's addresses and loads what was applied before. */
  start(): Promise<void>;
  /** Ends gracefully: no new connections, those under way are finished within a few seconds. */
  stop(): Promise<void>;

  /**
   * Brings a website to exactly `state`: folder, files (a starter page where there are none yet), host names,
   * redirects, certificates, offload. Resolves only once the edge serves it so. Files of the customer are never
   * touched.
   */
  apply(state: InstallState, signal?: AbortSignal): Promise<AppliedInstall>;
  /** Takes the website away, its files, caches and snapshots included. Removing what is not there is success. */
  remove(install: RemovedInstall): Promise<void>;
  /** Empties one cache of this install and of no other. Effective when it resolves. */
  purge(install: InstallRef, cache: CacheKind): Promise<void>;

  /**
   * Makes a consistent snapshot of the website under `backupId`, reads it back and verifies every checksum before it
   * resolves. A snapshot left half made by an interrupted run is replaced.
   */
  snapshot(install: InstallRef, backupId: string, signal?: AbortSignal): Promise<Snapshot>;
  /**
   * Puts the website back exactly as the snapshot has it. The snapshot is verified in full before anything of the
   * present website is touched, and it never ends half restored. `from`: the install that the snapshot was made of, where that
   * is another one; the names of the website stay those of `install`.
   */
  restore(
    install: InstallRef,
    backupId: string,
    options?: { from?: InstallRef; signal?: AbortSignal },
  ): Promise<Snapshot>;
  /** Deletes a snapshot, whole or half made. Deleting one that is not there is success. */
  discardSnapshot(install: InstallRef, backupId: string): Promise<void>;

  /**
   * Has the edge answer the proof's text for exactly its host name and path, over HTTP and HTTPS, before any redirect, until it is
   * withdrawn or a day has passed. In force when it resolves; replaces what was published there. The name need not be
   * applied to any website. Rejects with a {@link PermanentHostError} if the proof is none.
   */
  publish(proof: Proof): Promise<void>;
  /** Ends it. Withdrawing what is not there is success. */
  withdraw(proof: Pick<Proof, 'hostname' | 'path'>): Promise<void>;
}

/** What a host is and offers. */
export interface HostDescription {
  /** UUID of this host, for as long as its folder lives. */
  id: string;
  /** How many installs it has room for in all. */
  capacity: number;
  /** `major.minor`, newest first; none where it runs no PHP. */
  phpVersions: string[];
  /** Newest first; none where it runs no WordPress. */
  wordpressVersions: string[];
  /** Names that no install may have here, because the machine has log-ins of that name. */
  reservedNames: string[];
  /** Ports on which websites, and SFTP with SSH, are reached. */
  ports: { http: number; https: number; ssh: number };
  /** UUID of the platform that it belongs to, null for none yet; left out by a host of an earlier version. */
  platform?: string | null;
  /** Public keys by which SSH clients know it, each `type base64`; left out by a host of an earlier version. */
  sshHostKeys?: string[];
}

/** A host in a process, and perhaps on a machine, of its own. */
export interface HostMachine extends Host, Inventory {
  describe(): Promise<HostDescription>;
  /**
   * Compares what is on the machine with what should be: `expected` are the installs that the control plane has placed
   * here. With `repair` it mends what it can.
   */
  inspect(expected: InstallRef[], repair: boolean): Promise<Difference[]>;
  /**
   * Fetches the newest WordPress from the configured source, or from `source`, and gives its version. From another process
   * `source` may be `official` or `debian` alone: a path would be read as root.
   */
  addWordpress(source: string | null): Promise<string>;
}

/** Something on a machine that is not as it should be. */
export interface Difference {
  /** Which thing: `install shop: unix user`, `nginx`. */
  thing: string;
  /** What is the matter, one sentence. */
  message: string;
  /** Whether it was mended; null if that was not asked for, or nothing is wrong. */
  mended: boolean | null;
  /** What to do where it was not; null if there is nothing to do. Neither of both: it was left out, as the message says. */
  remedy: string | null;
}

/** RFC 8555 section 8.3. */
export const ACME_CHALLENGE_PREFIX = '/.well-known/acme-challenge/';
/** Below it the edge proves that what is sent to a name ends here. Nothing of a customer is ever served there. */
export const DOMAIN_CHECK_PREFIX = '/.well-known/homeport-check/';

/** A text that proves who answers for a host name. */
export interface Proof {
  /** ASCII, lower case; no wildcard. */
  hostname: string;
  /** {@link ACME_CHALLENGE_PREFIX} or {@link DOMAIN_CHECK_PREFIX} and 1 to 128 of `A-Z a-z 0-9 _ -`. */
  path: string;
  /** 1 to 1,024 bytes in UTF-8. */
  text: string;
}

/** Which website is meant. `id` never changes and is what folders are named by; `name` is for people and log-ins. */
export interface InstallRef {
  /** UUID, lower case. */
  id: string;
  /** DNS label (gaps section 5, Install.name). */
  name: string;
}

/** An install that is to be taken away, of which the control plane may know nothing any more. */
export interface RemovedInstall extends InstallRef {
  /** Where there are several machines: the id of the one it was on, null if it was on none; left out if that is not known. */
  hostId?: string | null;
}

/** What a website should be, whole. */
export interface InstallState extends InstallRef {
  /** The host name that stands for the website: in mails and in what it does of itself; one of `hostnames`. */
  primaryHostname: string;
  /** The host names that this website answers; duplicates that another install serves are not among them. */
  hostnames: Hostname[];
  /** Which paths are served from object storage; null for none. */
  offload: OffloadRules | null;
  /** `major.minor`, one that the host offers; null leaves what it has, and for a new website means the host's newest. */
  phpVersion: string | null;
  /** A WordPress version that the host holds; null leaves what it has, and for a new website means the host's newest. */
  wordpressVersion: string | null;
}

export interface Hostname {
  /** ASCII, lower case; `*.example.com` stands for one label below example.com. */
  name: string;
  /** Host name to send visitors on to (301, path and query kept), or null to serve here. */
  redirectTo: string | null;
  /** Visitors who come by HTTP are sent to HTTPS (301), as long as there is a certificate that has not expired. */
  forceHttps: boolean;
  /** What the edge shows for this name; null: the edge's own self-signed one. */
  certificate: ServedCertificate | null;
}

export interface ServedCertificate {
  /** PEM, leaf first. */
  chain: string;
  /** PEM, PKCS#8. Never logged; a host that must write it unsealed lets root alone read it. */
  key: string;
  /** Its last moment: ISO 8601 in UTC, with milliseconds. */
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
  /** `break`: fetched by the edge and served under the visitor's URL; `permanent`: 301 to the bucket. */
  redirectType: 'break' | 'permanent';
}

export const CACHE_KINDS = ['object', 'page', 'cdn'] as const;
export type CacheKind = (typeof CACHE_KINDS)[number];

export interface AppliedInstall {
  /** The PHP version the website runs on, or null if this host runs none. */
  phpVersion: string | null;
  /** The WordPress version whose core it runs on, or null if this host runs none. */
  wordpressVersion: string | null;
  /** Addresses at which the website is reached for as long as it lives, or null if the host promises none. */
  stableIps: string[] | null;
}

export interface Snapshot {
  /** Size of the archive in bytes. */
  bytes: number;
  /** Number of regular files in it. */
  files: number;
  /** SHA-256 of the archive, lower-case hex. */
  sha256: string;
}

/** What a host may ask of the control plane. Injected where the parts are put together. */
export interface SshQuestions {
  /**
   * Whose key this is, if its owner may reach the files of the install of that name now; otherwise null. Asked at log-in
   * and again while a connection lives, so that removing a key or a permission takes effect at once.
   */
  sshLogin(installName: string, fingerprintSha256: string): Promise<SshLogin | null>;
}

/** What a host in a process of its own may ask besides. */
export interface HostQuestions extends SshQuestions {
  /**
   * The password of the repository with the backups of an install. The control plane derives it from its sealing key, so that
   * backups outlive the machine they were made on and no machine keeps what opens them.
   */
  backupPassword(installId: string): Promise<string>;
}

export interface SshLogin {
  install: InstallRef;
  userId: string;
}

/** A failure that trying again will not mend (a corrupt archive, an install that is not there). */
export class PermanentHostError extends Error {
  override name = 'PermanentHostError';
}
