import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Clock } from '../../../lib/clock.ts';
import { removeDurably, writeDurably } from '../../../lib/durable-file.ts';
import type { Randomness } from '../../../lib/ids.ts';
import { ifThere } from '../../../lib/if-there.ts';
import { CommandError } from '../../../lib/run-command.ts';
import type { LoginRefused, WordPressLogin } from '../../contract/wordpress-login.ts';
import { inDatabase, linuxRuntime } from '../../runtime/linux/linux-runtime.ts';
import { pinFolder } from '../../runtime/linux/pinned-folder.ts';
import { replaceUrls, type UrlChange } from '../../websites/urls/replace-urls.ts';
import { requireCore } from '../../wordpress/core-tree.ts';
import { wordpressPasswordHash } from '../../wordpress/password-hash.ts';
import { PLACEHOLDER } from '../../wordpress/placeholder.ts';
import type { SiteConfig } from '../../wordpress/site-config.ts';
import type { Databases } from '../daemons/databases.ts';
import type { DatabaseLogin } from '../daemons/mariadb-client.ts';
import { foldersOf, type SandboxedInstall } from '../isolation/sandbox.ts';
import type { LinuxLayout } from '../machine/layout.ts';
import { createLogins } from './create-login.ts';
import type { DatabaseTemplates } from './database-templates.ts';
import { FILL_REFUSED, firstContentSql, onlyIfEmpty, onlyIfInterrupted, undoFill } from './first-content.ts';
import { checkSiteFiles, makeSiteFiles, repairSiteFiles, rewriteConfig } from './site-files.ts';
import { createCoreSwitch } from './switch-core.ts';

/** Main address of a website. */
export interface SiteAddress {
  /** Host name for mails and for work without a visitor. */
  primaryHostname: string;
  /** Whether visitors of that name use HTTPS. */
  secure: boolean;
  /** Key of passes through the password of visitors; null or omitted without a password. */
  passKey?: string | null;
}

/** How the URLs of a database are replaced, with the ports of this host. */
export interface WantedUrls extends Omit<UrlChange, 'ports'> {
  /** The only user with rights on the database. With it, `wp-content` of the website stays unused. */
  login?: DatabaseLogin;
  signal?: AbortSignal | undefined;
}

/** WordPress of the installs. Users, homes and databases must exist; PHP, Redis and the web server need not run. */
export interface Websites {
  /**
   * Creates the files of a new website: links to the core of `install.wordpressVersion`, initial files, and the values of this
   * host.
   */
  makeFiles(install: SandboxedInstall, site: SiteAddress & { database: string }): Promise<void>;
  /**
   * Repairs the links of an existing website and the values of this host. Call it again whenever `site` changes. Creates nothing that
   * belongs to the customer.
   */
  repairFiles(install: SandboxedInstall, site: SiteAddress & { database: string }): Promise<void>;
  /** Writes a lost `wp-config.php` again, for the tables with this prefix. */
  rewriteConfig(install: SandboxedInstall, tablePrefix: string): Promise<void>;
  /**
   * Creates the files of an imported website in a home beside the live one, `install.home`. Its PHP has no object cache, because
   * Redis has the values of the live website.
   */
  makeImportedFiles(
    install: SandboxedInstall,
    site: SiteAddress & { database: string; tablePrefix: string },
  ): Promise<void>;
  /** Lists faults of these files, one sentence each. Changes nothing. */
  checkFiles(install: SandboxedInstall, site: SiteAddress & { database: string }): Promise<string[]>;
  /**
   * Fills an empty database with a new WordPress and its administrator `admin`, whose random password is in
   * `private/wordpress-admin.txt`. Leaves a database with content alone, except what an interrupted fill left.
   */
  fillDatabase(
    install: SandboxedInstall,
    database: string,
    first: SiteAddress & { title: string; email?: string },
  ): Promise<void>;
  /**
   * Switches a website with its database to another core of this host, newer or older, and keeps a dump in `private` unless
   * `keepsDump` is false. A failure leaves the website as it was. Restart PHP afterwards: it still sees the former core.
   */
  switchCore(
    install: SandboxedInstall,
    database: string,
    from: string,
    to: string,
    options?: { keepsDump?: boolean },
  ): Promise<void>;
  /** See `Host.createLogin`. */
  createLogin(
    install: SandboxedInstall,
    database: string,
    user: string | null,
  ): Promise<WordPressLogin | LoginRefused>;
  /**
   * Replaces host names in every URL in the database; see websites/urls/replace-urls.ts. The Unix user of `install` must have rights on the
   * database, unless `wanted.login` has.
   */
  replaceUrls(install: SandboxedInstall, database: string, wanted: WantedUrls): Promise<void>;
}

export interface WebsitesOptions {
  layout: LinuxLayout;
  databases: Databases;
  templates: DatabaseTemplates;
  /** Address for visitors: `https://example.com`, with the port unless it is the default. */
  origin(hostname: string, secure: boolean): string;
  /** Command prefix that enters an install's cgroup; none if left out. */
  enter?(installId: string): readonly string[];
  log: Logger;
  clock: Clock;
  randomness: Randomness;
}

const ADMIN_FILE = 'wordpress-admin.txt';
/**
 * Exists while a database is being filled, and contains its password. Readable by root only, in the home, which belongs to root
 * and is removed with the install.
 */
const FILLING_FILE = '.filling';

export function createWebsites(options: WebsitesOptions): Websites {
  const { layout, databases, origin, enter = () => [], log, clock, randomness } = options;

  function configOf(install: SandboxedInstall, site: SiteAddress & { database: string }): SiteConfig {
    return {
      root: foldersOf(layout, install).htdocs,
      database: site.database,
      user: install.name,
      socket: layout.mariadbSocket,
      redis: layout.redisSocketOf(install.id),
      purge: layout.purgeSocketOf(install.id),
      origin: origin(site.primaryHostname, site.secure),
      pass: site.passKey ?? null,
    };
  }

  const secret = () => randomness.bytes(48).toString('base64');

  async function makeFiles(
    install: SandboxedInstall,
    site: SiteAddress & { database: string },
  ): Promise<void> {
    await requireCore(layout.coreOf(install.wordpressVersion));
    await makeSiteFiles(layout, install, configOf(install, site), secret);
  }

  async function repairFiles(
    install: SandboxedInstall,
    site: SiteAddress & { database: string },
  ): Promise<void> {
    await requireCore(layout.coreOf(install.wordpressVersion));
    await repairSiteFiles(layout, install, configOf(install, site));
  }

  async function makeImportedFiles(
    install: SandboxedInstall,
    site: SiteAddress & { database: string; tablePrefix: string },
  ): Promise<void> {
    const config = { ...configOf(install, site), redis: null, purge: null };
    await makeSiteFiles(layout, install, config, secret, site.tablePrefix);
  }

  async function fillDatabase(
    install: SandboxedInstall,
    database: string,
    first: SiteAddress & { title: string; email?: string },
  ): Promise<void> {
    const mark = join(foldersOf(layout, install).home, FILLING_FILE);
    // In the install's home, which belongs to root: no link of the customer can mislead it.
    const begun = await ifThere(readFile(mark, 'utf8'));
    const template = await readFile(await options.templates.ensure(install.wordpressVersion), 'utf8');
    const password = begun || randomness.bytes(18).toString('base64url');
    const address = origin(first.primaryHostname, first.secure);
    const content = firstContentSql(template, {
      origin: address,
      email: first.email ?? `admin@${first.primaryHostname}`,
      title: first.title,
      passwordHash: wordpressPasswordHash(password, randomness.bytes(6)),
      now: clock.now(),
    });
    const guard = begun === null ? onlyIfEmpty() : onlyIfInterrupted(template) + undoFill(template);
    await writeDurably(mark, password);
    const isFilled = await fill(database, guard + content);
    // A fill interrupted at its very end has this password, and lacks only the file.
    if (isFilled || password === begun) await writeAdminFile(install, adminText(address, password));
    await removeDurably(mark);
  }

  /** False, without changes, if the database has content to keep. */
  async function fill(database: string, statements: string): Promise<boolean> {
    try {
      await databases.query(database, statements);
      return true;
    } catch (error) {
      if (error instanceof CommandError && error.stderr.includes(FILL_REFUSED)) return false;
      throw error;
    }
  }

  async function writeAdminFile(install: SandboxedInstall, text: string): Promise<void> {
    const folder = await pinFolder(foldersOf(layout, install).private);
    try {
      await folder.write(ADMIN_FILE, text, { uid: install.uid, gid: install.gid, mode: 0o600 });
    } finally {
      await folder.close();
    }
  }

  async function replaceIn(
    install: SandboxedInstall,
    database: string,
    { login, signal, ...wanted }: WantedUrls,
  ): Promise<void> {
    const portFor = (secure: boolean) => new URL(origin(wanted.to, secure)).port;
    const change = { ...wanted, ports: { http: portFor(false), https: portFor(true) } };
    const runtime = linuxRuntime(layout, install, enter(install.id));
    const rows = await replaceUrls(inDatabase(runtime, database, login), change, signal);
    if (rows !== null) log.info({ install: install.id, ...change, rows }, `replaced URLs in ${database}`);
  }

  return {
    makeFiles,
    repairFiles,
    rewriteConfig: (install, tablePrefix) => rewriteConfig(layout, install, secret, tablePrefix),
    makeImportedFiles,
    checkFiles: (install, site) => checkSiteFiles(layout, install, configOf(install, site)),
    fillDatabase,
    switchCore: createCoreSwitch({ layout, databases, enter, log }),
    createLogin: createLogins({ layout, enter, log, clock, randomness }),
    replaceUrls: replaceIn,
  };
}

function adminText(address: string, password: string): string {
  return `Your WordPress is at ${address}/wp-admin/

User name: ${PLACEHOLDER.user}
Password:  ${password}

Sign in, choose your own password, and delete this file.
`;
}
