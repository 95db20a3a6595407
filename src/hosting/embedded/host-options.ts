import type { Logger } from 'pino';
import type { Clock } from '../../lib/clock.ts';
import type { Randomness } from '../../lib/ids.ts';
import type { PhpBounds } from '../../lib/php-limits.ts';
import type { ListenAddress } from '../../network/connections/inherited-sockets.ts';
import type { SocketLimiters } from '../../network/connections/socket-limiters.ts';
import type { ObjectStorage } from '../../network/object-storage/object-storage.ts';
import type { Sealer } from '../../secrets/sealer.ts';
import type { PreparedWordPress, WordPressHere, WordPressLacking } from '../contract/embedded-wordpress.ts';
import type { FigureSource } from '../contract/figures.ts';
import type { Host } from '../contract/host.ts';
import type { InstallLimits } from '../contract/install-limits.ts';
import type { Inventory } from '../contract/inventory.ts';
import type { ReportProgress } from '../contract/progress.ts';
import type { SshQuestions } from '../contract/questions.ts';
import type { UsageSource } from '../contract/usage.ts';
import type { WordPressMarks } from '../contract/wordpress.ts';
import type { PhpSites, PhpSitesOptions } from '../runtime/wasm/php-sites.ts';
import type { LogRules } from '../websites/logs/upkeep.ts';
import type { CheckPace } from '../websites/probe/probing.ts';
import type { WebsiteMailSettings } from './wordpress/website-mail.ts';

export interface EmbeddedHostOptions {
  /** Holds everything that the host stores. Created at the start. */
  folder: string;
  edgeHttp: ListenAddress;
  edgeHttps: ListenAddress;
  sshListen: ListenAddress;
  /** Installs answer as `<name>.<site domain>`. */
  siteDomain: string;
  sealer: Sealer;
  objectStorage: ObjectStorage;
  questions: SshQuestions;
  connections: Pick<SocketLimiters, 'edge' | 'ssh'>;
  log: Logger;
  clock: Clock;
  /**
   * Whether this process serves the websites. If not, it changes the folder and the serving process follows; `edgeHttp` is then the address
   * at which the serving process confirms the change.
   */
  listen: boolean;
  /** Optional. */
  limits?: InstallLimits;
  logRules: LogRules;
  /** None: the host serves files only. */
  wordpress?: WordPressSettings | null;
  /** Whether a peer is a proxy whose `X-Forwarded-For` names the visitor. None by default. */
  isTrustedProxy?: (address: string) => boolean;
  /** Time that a stop gives active requests at least, in milliseconds. Default: 5 s. */
  graceMs?: number;
}

/** Dependencies of websites with WordPress. */
export interface WordPressSettings {
  /** Source of WordPress; null: the packaged release, then the official download. */
  source: string | null;
  /** Base URL of the official download. */
  url: string;
  /** Address of the list of releases; null: new releases are not fetched. */
  releasesUrl: string | null;
  createPhp(
    callbacks: Pick<
      PhpSitesOptions,
      'folder' | 'codeFolder' | 'roots' | 'loopback' | 'loopbacks' | 'deliverMail' | 'onChosen'
    >,
  ): PhpSites;
  /** Called after another PHP was chosen for websites. Default: does nothing. */
  onPhpChosen?(): void;
  /** Unpacks the SQLite plugin of WordPress below a folder, and returns its own folder. Rejects with a sentence if it is missing. */
  sqlitePlugin(folder: string): Promise<string>;
  /** Does the same with WP-CLI. */
  wpCli(folder: string): Promise<string>;
  /** Does the same with phpMyAdmin, when a user opens a database for the first time. */
  phpMyAdmin(folder: string): Promise<string>;
  mail: WebsiteMailSettings;
  /** Limits of PHP that websites can have. */
  phpBounds: PhpBounds;
  /** How long the checks of a change wait; `CHECK_PACE` if left out. */
  checkPace?: Partial<CheckPace>;
  randomness: Randomness;
  /** A file with the certificate of the authority of downloads, as PHP sees it. For tests. */
  importAuthority?: string;
}

/** The addresses that the host listens on, with actual ports. */
export interface EmbeddedAddresses {
  edgeHttp: ListenAddress;
  edgeHttps: ListenAddress;
  ssh: ListenAddress;
}

export interface EmbeddedHost extends Host, Inventory, UsageSource, FigureSource, WordPressMarks {
  /** Null before the start, and if it does not listen. */
  readonly addresses: EmbeddedAddresses | null;
  wordpressHere(): Promise<WordPressHere>;
  /** Fetches WordPress if this host has none, and prepares it for new websites. Returns the versions, or why it cannot run here. */
  prepareWordPress(report?: ReportProgress): Promise<PreparedWordPress | WordPressLacking>;
}
