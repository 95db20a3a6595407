import type { PhpLimits } from '../../lib/php-limits.ts';
import type { InstallRef } from './install-ref.ts';
import type { MailState } from './mail.ts';
import type { WebsiteRules } from './website-rules.ts';

/** An install to delete. The control plane may have forgotten it already. */
export interface RemovedInstall extends InstallRef {
  /** With several machines: the id of its host, null without one, undefined if unknown. */
  hostId?: string | null;
}

export interface RemovalOptions {
  /** Keeps its snapshots. Default: false. */
  keepBackups?: boolean | undefined;
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
  /**
   * Whether the website was made before. A host that has nothing of it then refuses: an empty website in its place would push the good
   * backups out. Left out: it may be made.
   */
  isMade?: boolean;
  /** The runtime of the website. Left out: WordPress on a Linux host, files in the embedded host. */
  runtime?: Runtime;
}

/** The runtime of a website. `static`: files only. */
export const RUNTIMES = ['wordpress', 'static'] as const;
export type Runtime = (typeof RUNTIMES)[number];

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
