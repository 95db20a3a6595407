import type { PhpBounds } from '../../lib/php-limits.ts';
import type { BackupBrowser } from './backup-contents.ts';
import type { BackupMover } from './backup-places.ts';
import type { DatabaseAccess } from './database-access.ts';
import type { EdgeForwarding, EdgeRouting } from './edge-routes.ts';
import type { FigureSource } from './figures.ts';
import type { WebsiteImports } from './imports.ts';
import type { InstallRef } from './install-ref.ts';
import type { AppliedInstall, InstallState, RemovalOptions, RemovedInstall } from './install-state.ts';
import type { Inventory } from './inventory.ts';
import type { LogSource } from './logs.ts';
import type { MailHost, MailQueueControl } from './mail.ts';
import type { WebsiteMover } from './moves.ts';
import type { ReportProgress } from './progress.ts';
import type { ProofPublisher } from './proofs.ts';
import type { RecoveryPointMaker } from './recovery-points.ts';
import type { SnapshotKeeper } from './snapshots.ts';
import type { SshFleet } from './ssh-fleet.ts';
import type { MeasuredStorage, UsageSource } from './usage.ts';
import type { WordPressMarks, WordPressReader } from './wordpress.ts';
import type { WordPressChanger } from './wordpress-changes.ts';
import type { LoginCreator } from './wordpress-login.ts';
import type { ReleaseFetcher, WordPressUpdater } from './wordpress-updates.ts';
import type { WpCliRunner } from './wp-cli.ts';

/**
 * The only interface between the control plane and websites (docs/architecture.md). The control plane states the desired result, never
 * the steps. A host knows no database; questions.ts lists everything it may ask the control plane.
 *
 * Every operation except {@link WpCliRunner} is idempotent: jobs run at least once, so each operation reaches the same state after an
 * interrupted run.
 */
export interface Host
  extends BackupBrowser,
    DatabaseAccess,
    LogSource,
    LoginCreator,
    MailHost,
    ProofPublisher,
    SnapshotKeeper,
    WebsiteImports,
    WordPressChanger,
    WordPressReader,
    WordPressUpdater,
    WpCliRunner {
  /** Starts serving: binds the addresses of edge and SSH gateway and loads the applied websites. */
  start(): Promise<void>;
  /** Stops gracefully: accepts no connections and finishes requests in progress, for a few seconds, or for `graceMs` if that is longer. */
  stop(graceMs?: number): Promise<void>;

  /**
   * Brings a website to exactly `state`: folder, files (a starter page in an empty folder), host names, redirects, certificates,
   * offload. Resolves once the edge serves that state. Never touches the customer's files. `report`: called while a host in this process
   * downloads WordPress.
   */
  apply(state: InstallState, signal?: AbortSignal, report?: ReportProgress): Promise<AppliedInstall>;
  /**
   * Makes a website that a restore of a whole backup fills. Until then, visitors see that it is closed, it runs nothing, and the inventory says what it
   * lacks. A website that the host has stays as it is.
   */
  makeForRestore(state: InstallState, signal?: AbortSignal): Promise<void>;
  /** Deletes the website with its files, caches and snapshots. A missing website is success. */
  remove(install: RemovedInstall, options?: RemovalOptions): Promise<void>;
  /**
   * Stops serving a website that is being deleted, and ends its processes. Its data stays, so that a last snapshot can be made. A
   * missing website is success.
   */
  retire(install: RemovedInstall): Promise<void>;
  /** Empties one cache of this install. Effective when it resolves. */
  purge(install: InstallRef, cache: CacheKind): Promise<void>;
  /**
   * Purges single pages: those with these paths, under every host name, with every query, with or without a final `/`. Paths count
   * decoded (`isPagePath`). May purge more. Effective when it resolves.
   */
  purgePages(install: InstallRef, paths: readonly string[]): Promise<void>;
  /**
   * Replaces URLs with a former main name or scheme in the website's database by those of its present address. Without any, it does
   * nothing. Rejects with a PermanentHostError if the database cannot be changed; the host then forgets the former names.
   */
  replaceUrls(install: InstallRef, signal?: AbortSignal): Promise<void>;

  /**
   * Ends the processes of a website's PHP, so that the next ones have nothing that former code left in memory. Running requests have 8 to 10
   * seconds to end. Rejects with a {@link PermanentHostError} if the website has no PHP.
   */
  restartPhp(install: InstallRef): Promise<void>;

  /** Measures the files and the database of a website. */
  measureStorage(install: InstallRef, signal?: AbortSignal): Promise<MeasuredStorage>;
}

/** What a machine has left. Sizes in bytes. */
export interface MachineState {
  processors: number;
  /** The processes that want a processor, on average of the last minute. */
  load: number;
  memory: { total: number; free: number };
  /** Of the file system with the websites. */
  disk: { total: number; free: number };
}

/** A host's identity and capabilities. */
export interface HostDescription {
  /** UUID, stored in the host's folder. */
  id: string;
  /** The most installs that the host accepts. */
  capacity: number;
  /** Versions that installs can choose, `major.minor`, newest first: those without missing extensions. */
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
  /** Whether it has a mail server for the messages of websites; hosts of earlier versions omit it. */
  hasRelay?: boolean;
  /** Whether it has WP-CLI; hosts of earlier versions omit it. */
  hasWpCli?: boolean;
  /** Hosts of earlier versions omit it. */
  machine?: MachineState;
  /** Whether it refuses to make a website again that was made before and that it has nothing of; hosts of earlier versions omit it. */
  keepsLost?: boolean;
  /** Whether it understands `makeForRestore`; hosts of earlier versions omit it. */
  makesForRestore?: boolean;
  /** Whether it understands the id of a restore; hosts of earlier versions omit it. */
  recordsRestores?: boolean;
  /** Hosts of earlier versions omit it. */
  diskQuotas?: DiskQuotaKind;
  /** Walls between its websites, as it tried them last; hosts of earlier versions omit them. */
  walls?: Wall[];
  /** Left out by hosts that forward nothing: embedded ones, and those of earlier versions. */
  forwarding?: EdgeForwarding;
  /** Whether SSH sessions of its websites can be passed on to it, and the address where it takes them; null: all addresses of the machine. Hosts of earlier versions omit it. */
  sshRelay?: { host: string | null };
  /** Whether it shares its SSH host key with the other hosts; hosts of earlier versions omit it. */
  sharesSshHostKey?: boolean;
  /** Whether it understands the commands of a move; hosts of earlier versions omit it. */
  movesWebsites?: boolean;
}

/** How a host keeps the files of an install below their limit. */
export interface DiskQuotaKind {
  /** `project`: the file system refuses what exceeds the limit. `measured`: large files are refused within minutes. `none`: no limit. */
  kind: 'project' | 'measured' | 'none';
  /** How to turn project quotas on; null if they are active or impossible. */
  advice: string | null;
}

/** A wall between the websites of a host. */
export interface Wall {
  /** For people, such as "system calls". */
  name: string;
  /** The weakness, a sentence; null if the wall holds. */
  weakness: string | null;
  /** The remedy, for the operator. */
  remedy: string | null;
}

/** A host in a separate process, possibly on another machine. */
export interface HostMachine
  extends Host,
    BackupMover,
    EdgeRouting,
    Inventory,
    UsageSource,
    FigureSource,
    MailQueueControl,
    SshFleet,
    RecoveryPointMaker,
    WordPressMarks,
    WebsiteMover,
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
  addWpCli(source: 'official' | null): Promise<string>;
}

/** A difference between a machine and its desired state. */
export interface Difference {
  /** The affected part: `install shop: unix user`, `nginx`. */
  thing: string;
  /** The problem, in one sentence. */
  message: string;
  /** Whether the repair succeeded; null without a repair or a problem. */
  mended: boolean | null;
  /** The operator's next step; null if nothing is left to do. If `mended` is null too, the part was not checked and the message says why. */
  remedy: string | null;
  /** Id of the install that lost data, whose newest backup helps. */
  backupOf?: string;
}

export const CACHE_KINDS = ['object', 'page', 'cdn'] as const;
export type CacheKind = (typeof CACHE_KINDS)[number];
