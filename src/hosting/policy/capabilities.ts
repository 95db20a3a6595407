import { CAPABILITIES, type Capability, type CapabilityState } from '../contract/capabilities.ts';
import type { HostDescription } from '../contract/host.ts';
import type { Runtime } from '../contract/install-state.ts';

/** The facts that decide what the host of an install does for it. */
export type HostFacts =
  | {
      kind: 'embedded';
      /** Whether PHP is switched on. */
      runsPhp: boolean;
      /** Whether the platform has a mail server. */
      hasMailServer: boolean;
    }
  | {
      kind: 'linux';
      /** Null before the host has described itself. */
      description: Pick<HostDescription, 'php' | 'hasRelay' | 'hasWpCli'> | null;
    };

interface Declaration {
  /** A noun phrase, for documents. */
  title: string;
  /** Why a website of files lacks it; null if its contents make no difference. */
  ofFiles: string | null;
  /** Why the embedded host does not do it; null if it does. */
  notEmbedded: string | null;
  /** How else to get it there; null: only with a Linux host. */
  otherWay: string | null;
  /** What a website of files can do instead; left out: only an install with WordPress has it. */
  insteadOfFiles?: string;
}

const NO_WORDPRESS = 'This website consists of files, without WordPress.';
const LINUX_HOST = 'Use a platform with a Linux host, which offers it.';

/**
 * The one declaration of what hosts do. API, portal, command line, assistants and documents read it, so that they cannot contradict each
 * other. A host that learns something changes its line here.
 */
const DECLARED: Readonly<Record<Capability, Declaration>> = {
  wordpress_login: {
    title: 'signing in to WordPress with a link',
    ofFiles: NO_WORDPRESS,
    notEmbedded: null,
    otherWay: null,
  },
  wordpress_details: {
    title: 'list of plugins, themes and administrators, and Site Health',
    ofFiles: NO_WORDPRESS,
    notEmbedded: null,
    otherWay: null,
  },
  wordpress_updates: {
    title: 'updates of WordPress, plugins and themes with rollback, and a policy for automatic ones',
    ofFiles: NO_WORDPRESS,
    notEmbedded: null,
    otherWay: null,
  },
  wordpress_changes: {
    title: 'installing, switching and deleting plugins and themes',
    ofFiles: NO_WORDPRESS,
    notEmbedded: null,
    otherWay: null,
  },
  wp_cli: {
    title: 'WP-CLI',
    ofFiles: NO_WORDPRESS,
    notEmbedded: null,
    otherWay: null,
  },
  database_access: {
    title: 'opening the database with a link',
    ofFiles: 'This website consists of files, without a database.',
    notEmbedded: null,
    otherWay: null,
  },
  php_versions: {
    title: 'choice of the PHP version',
    ofFiles: 'This website consists of files, without PHP.',
    notEmbedded: 'The embedded host has one version of PHP.',
    otherWay: null,
  },
  php_limits: {
    title: 'limits of PHP',
    ofFiles: 'This website consists of files, without PHP.',
    notEmbedded: null,
    otherWay: null,
  },
  mail: {
    title: 'mail that the website sends',
    ofFiles: 'This website consists of files, so it sends no mail.',
    notEmbedded: null,
    otherWay: null,
  },
  mail_limits: {
    title: 'limits and counts of mail',
    ofFiles: 'This website consists of files, so it sends no mail.',
    notEmbedded: null,
    otherWay: null,
  },
  imports: {
    title: 'imports of existing websites',
    ofFiles: NO_WORDPRESS,
    notEmbedded: null,
    otherWay: null,
  },
  imports_by_ssh: {
    title: 'imports from the old host by SSH',
    ofFiles: NO_WORDPRESS,
    notEmbedded: 'The embedded host has no SSH client.',
    otherWay: 'Pack the website on the old host, and import the archive.',
  },
  logs: {
    title: 'logs of requests, PHP, WP-Cron and mail',
    ofFiles: null,
    notEmbedded: null,
    otherWay: null,
  },
  backup_parts: {
    title: 'restores and copies of the files or the database alone',
    ofFiles: 'This website consists of files, without a database.',
    notEmbedded: null,
    otherWay: null,
    insteadOfFiles: 'Choose the files, which are the whole website.',
  },
  backup_tables: {
    title: 'restores and copies of single tables of the database',
    ofFiles: 'This website consists of files, without a database.',
    notEmbedded: null,
    otherWay: null,
    insteadOfFiles: 'Choose the files, which are the whole website.',
  },
  object_cache: {
    title: 'object cache (Redis)',
    ofFiles: 'This website consists of files, so it has no object cache.',
    notEmbedded: 'The embedded host has no object cache.',
    otherWay: null,
  },
  shell: {
    title: 'shell by SSH',
    ofFiles: null,
    notEmbedded: 'The embedded host offers SFTP, without a shell.',
    otherWay: null,
  },
};

/** The title of a capability, as a noun phrase. */
export const titleOf = (capability: Capability): string => DECLARED[capability].title;

/** What a kind of host does for installs with WordPress, if nothing that it needs is missing. */
export const offeredBy = (kind: HostFacts['kind']): Capability[] =>
  CAPABILITIES.filter((capability) => kind === 'linux' || DECLARED[capability].notEmbedded === null);

/** The runtime of an install. Linux hosts run WordPress on each, and the embedded host serves files unless another one is stored. */
export const runtimeOn = (kind: HostFacts['kind'], stored: Runtime | null): Runtime =>
  kind === 'linux' ? 'wordpress' : (stored ?? 'static');

/** Whether the host does something for an install with that runtime. */
export function capabilityOf(capability: Capability, runtime: Runtime, facts: HostFacts): CapabilityState {
  const { ofFiles, notEmbedded, otherWay, insteadOfFiles } = DECLARED[capability];
  if (runtime === 'static' && ofFiles !== null) {
    const isOffered = facts.kind === 'linux' || notEmbedded === null;
    const remedy = isOffered ? 'Create an install with the runtime "wordpress".' : LINUX_HOST;
    return lacking(ofFiles, insteadOfFiles ?? remedy);
  }
  if (facts.kind === 'linux') return missingOnLinux(capability, facts.description) ?? AVAILABLE;
  if (notEmbedded !== null) return lacking(notEmbedded, otherWay ?? LINUX_HOST);
  return missingEmbedded(capability, facts) ?? AVAILABLE;
}

/** Why the embedded host refuses something, for calls that reach it all the same. */
export function refusalOfEmbedded(capability: Capability, runtime: Runtime): string {
  const state = capabilityOf(capability, runtime, { kind: 'embedded', runsPhp: true, hasMailServer: true });
  if (state.available) throw new Error(`the embedded host offers ${capability}`);
  return `${state.reason} ${state.remedy}`;
}

const AVAILABLE: CapabilityState = { available: true };
const lacking = (reason: string, remedy: string): CapabilityState => ({ available: false, reason, remedy });

/** The embedded host needs PHP for these capabilities. */
const NEEDS_PHP: ReadonlySet<Capability> = new Set([
  'wordpress_login',
  'wordpress_details',
  'wordpress_updates',
  'wordpress_changes',
  'wp_cli',
  'php_limits',
  'database_access',
  'mail',
  'imports',
]);

/** The reason and remedy if the embedded host lacks something that a capability needs; null if it lacks nothing. */
function missingEmbedded(
  capability: Capability,
  { runsPhp, hasMailServer }: Extract<HostFacts, { kind: 'embedded' }>,
): CapabilityState | null {
  if (!runsPhp && NEEDS_PHP.has(capability)) {
    return lacking(
      'PHP is switched off on this platform, so WordPress does not run.',
      'The operator can switch it on with HOMEPORT_EMBEDDED_PHP_MB.',
    );
  }
  if (!hasMailServer && capability === 'mail') {
    return lacking(
      'The platform has no mail server, so mail of this website is not delivered.',
      'The operator can name one in HOMEPORT_SMTP_URL.',
    );
  }
  return null;
}

/** What a Linux host needs for it and does not have; null if nothing. A host of an earlier version does not say, and refuses by itself. */
function missingOnLinux(
  capability: Capability,
  description: Extract<HostFacts, { kind: 'linux' }>['description'],
): CapabilityState | null {
  if (capability === 'php_limits' && description?.php === undefined) {
    return lacking(
      'The host of the website has not reported its limits of PHP yet.',
      'Try again in a minute.',
    );
  }
  if (capability === 'mail' && description?.hasRelay === false) {
    return lacking(
      'The host of the website has no mail server, so it refuses every message.',
      'The operator can name one in HOMEPORT_RELAY_URL.',
    );
  }
  if (capability === 'wp_cli' && description?.hasWpCli === false) {
    return lacking(
      'The host of the website has no WP-CLI.',
      'The operator can fetch it with "homeport host wp-cli".',
    );
  }
  return null;
}
