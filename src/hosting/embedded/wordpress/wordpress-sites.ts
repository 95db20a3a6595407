import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Clock } from '../../../lib/clock.ts';
import { untilAborted } from '../../../lib/concurrency.ts';
import { syncFolder } from '../../../lib/durable-file.ts';
import { MINUTE_MS } from '../../../lib/durations.ts';
import type { Randomness } from '../../../lib/ids.ts';
import type { PhpBounds, PhpLimits } from '../../../lib/php-limits.ts';
import { syncFileSystem } from '../../../lib/sync-file-system.ts';
import { BrokenWebsiteError } from '../../contract/errors.ts';
import type { InstallRef } from '../../contract/install-ref.ts';
import type { ReportProgress } from '../../contract/progress.ts';
import { effectivePhp } from '../../policy/php-limits.ts';
import { type LibraryScript, libraryScript } from '../../runtime/wasm/library-script.ts';
import type { PhpSite, PhpSiteLimits, PhpSites } from '../../runtime/wasm/php-sites.ts';
import { wasmPrograms } from '../../runtime/wasm/wasm-runtime.ts';
import type { UrlPorts } from '../../websites/urls/replace-urls.ts';
import { outputOfCompleted } from '../../wordpress/completed-script.ts';
import type { WordPressCores } from '../../wordpress/cores.ts';
import { wordpressPasswordHash } from '../../wordpress/password-hash.ts';
import { PLACEHOLDER } from '../../wordpress/placeholder.ts';
import { renderWpConfig } from '../../wordpress/site-config.ts';
import { type Layout, type WebsiteFolders, websiteIn } from '../host-folder/layout.ts';
import { requirePlainFolder } from '../host-folder/plain-folder.ts';
import { adoptDatabase } from './adopted-database.ts';
import { FailedScriptError } from './broken-website.ts';
import { requireCopied } from './copied-database.ts';
import { copyTree } from './copy-tree.ts';
import { writeFirstValues } from './first-values.ts';
import { createGoldenCopies, writeHostFiles } from './golden-copies.ts';
import { missingData } from './missing-data.ts';
import { ADDRESSES_FILE, addressesText } from './noted-addresses.ts';
import {
  COPY_FOLDER,
  DATABASE,
  databaseCopyCode,
  FRONT_PAGE_CODE,
  PRIVATE,
  phpSiteOf,
  type SiteFacts,
} from './site.ts';
import { createUrlReplacement, type UrlReplacement, type UrlReplacementOptions } from './url-replacement.ts';
import { createWordPressVersions, type WordPressVersions } from './wordpress-versions.ts';

/** The WordPress websites of this host. Their document roots contain everything that belongs to them, the database too. */
export interface WordPressSites extends WordPressVersions, UrlReplacement {
  /** Fetches WordPress if this host has none, and prepares it for new websites. Returns its version. Rejects as `versionFor`. */
  prepare(report?: ReportProgress): Promise<string>;
  /**
   * Creates the document root of a new website, or repairs the host's files in an existing one. `isNew`: false for a website that was
   * served before. If it lost its files, nothing is put in their place.
   */
  provide(install: InstallRef, facts: SiteFacts, isNew: boolean, signal?: AbortSignal): Promise<void>;
  siteOf(installId: string, facts: SiteFacts): Promise<PhpSite>;
  /** The limits of an install's PHP now. */
  limitsOf(installId: string, facts: Pick<SiteFacts, 'php'>): PhpSiteLimits;
  /** Runs `work` while the install's PHP has other limits than its facts say. A host that is killed meanwhile starts with those of the facts. */
  withLimits<Result>(
    installId: string,
    limits: PhpLimits | null,
    work: () => Promise<Result>,
  ): Promise<Result>;
  /** A website in folders that no install has. Its process must be stopped. */
  siteIn(folders: WebsiteFolders, facts: SiteFacts): Promise<PhpSite>;
  inFolders: UrlReplacementOptions['inFolders'];
  /** Runs `work`, which makes a snapshot, beside a copy of the database. The snapshot takes the copy instead of the live files. */
  withDatabaseCopy<Result>(
    install: InstallRef,
    facts: SiteFacts,
    work: () => Promise<Result>,
    signal?: AbortSignal,
  ): Promise<Result>;
  /** Upgrades or downgrades a database to `facts.version`, in a process that ends afterwards. `folders`: no other PHP may use this database. */
  upgradeDatabase(folders: WebsiteFolders, facts: SiteFacts): Promise<void>;
}

/** Scripts that end with the line of {@link outputOfCompleted}. */
const MARKED: ReadonlySet<string> = new Set(['install.php', 'upgrade.php']);
const ERROR_PAGE = '<body id="error-page">';
const ADMIN_FILE = 'wordpress-admin.txt';

const COPY_SECONDS = 10 * 60;
/** Enough for a large database on a slow disk. */
const UPGRADE_MS = 30 * MINUTE_MS;

export interface WordPressSitesOptions {
  layout: Layout;
  cores: WordPressCores;
  php: PhpSites;
  /** The folder of the SQLite plugin of WordPress. */
  sqlitePlugin(): Promise<string>;
  /** The folder of WP-CLI. */
  wpCli(): Promise<string>;
  phpBounds: PhpBounds;
  /** The folder for versions of phpMyAdmin, which exists. */
  phpMyAdmin(): Promise<string>;
  /** Of this host now. */
  ports(): UrlPorts;
  log: Logger;
  clock: Clock;
  randomness: Randomness;
}

export function createWordPressSites(options: WordPressSitesOptions): WordPressSites {
  const { layout, cores, php, sqlitePlugin, wpCli, phpMyAdmin, phpBounds, log, clock, randomness } = options;
  /** Limits that are being tried, by install. */
  const tried = new Map<string, PhpLimits | null>();
  const versions = createWordPressVersions(cores, log);
  const golden = createGoldenCopies({
    layout,
    log,
    async runOn({ version, origin, ...folders }, scripts) {
      const facts = { version, origin, passKey: null };
      await inFolder(folders, facts, async (site) => {
        for (const script of scripts) await run(site, script, origin);
      });
    },
  });
  /** @throws if the website has something else in its place */
  async function privateOf(installId: string): Promise<string> {
    const folder = join(layout.filesOf(installId), PRIVATE);
    await requirePlainFolder(folder);
    return folder;
  }

  function limitsOf(installId: string, facts: Pick<SiteFacts, 'php'>): PhpSiteLimits {
    const { workers, ...limits } = effectivePhp(
      phpBounds,
      tried.has(installId) ? tried.get(installId) : facts.php,
    );
    return { ...limits, threads: workers };
  }

  async function phpSiteIn(id: string, folders: WebsiteFolders, facts: SiteFacts): Promise<PhpSite> {
    const { version, origin, passKey } = facts;
    return phpSiteOf({
      id,
      ...folders,
      core: layout.coreOf(version),
      sqlite: await sqlitePlugin(),
      wpCli: await wpCli(),
      phpMyAdmin: await phpMyAdmin(),
      origin,
      passKey,
      limits: limitsOf(id, facts),
    });
  }

  async function siteOf(installId: string, facts: SiteFacts): Promise<PhpSite> {
    const missing = missingData(layout, installId);
    // PHP would make another database.
    if (missing.length > 0) {
      throw new BrokenWebsiteError(`Data of the website is missing. ${missing.join(' ')} Restore a backup.`);
    }
    return phpSiteIn(
      installId,
      { files: layout.filesOf(installId), database: layout.databaseOf(installId) },
      facts,
    );
  }

  /** Runs `work` with a website in folders that no install has. Its process ends afterwards. */
  async function inFolder<Result>(
    folders: WebsiteFolders,
    facts: SiteFacts,
    work: (site: PhpSite) => Promise<Result>,
  ): Promise<Result> {
    const site = await phpSiteIn(randomUUID(), folders, facts);
    try {
      return await work(site);
    } finally {
      await php.stop(site.id);
    }
  }

  const inFolders: WordPressSites['inFolders'] = (folders, facts, work) =>
    inFolder(folders, facts, (site) =>
      work(wasmPrograms({ php, site: async () => site, origin: facts.origin })),
    );

  const urls = createUrlReplacement({
    layout,
    programsOf: (id, facts) => wasmPrograms({ php, site: () => siteOf(id, facts), origin: facts.origin }),
    inFolders,
    ports: options.ports,
    log,
  });

  async function run(site: PhpSite, script: LibraryScript, origin: string): Promise<string> {
    const { output, error, exit } = await php.run(site, libraryScript(script, origin));
    // WordPress shows its own errors as a page, and ends without a fault.
    const printed = MARKED.has(script.script) ? outputOfCompleted(output) : output;
    if (exit === 0 && printed !== null && !output.includes(ERROR_PAGE)) return printed;
    throw new FailedScriptError(`${script.script} failed`, error.trim() || output);
  }

  async function create(install: InstallRef, facts: SiteFacts, signal?: AbortSignal): Promise<void> {
    const source = await untilAborted(golden.ensure(facts.version), signal);
    const folder = layout.installOf(install.id);
    // Under another name, so that a document root never exists without its database.
    const beginning = join(folder, '.provisioning');
    await rm(beginning, { recursive: true, force: true });
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await copyTree(source, beginning);
    const { files, database } = websiteIn(beginning);
    const { hostname } = new URL(facts.origin);
    const password = randomness.bytes(18).toString('base64url');
    writeFirstValues(join(database, DATABASE), {
      origin: facts.origin,
      email: `admin@${hostname}`,
      title: install.name,
      passwordHash: wordpressPasswordHash(password, randomness.bytes(6)),
      now: clock.now(),
    });
    const secret = () => randomness.bytes(48).toString('base64');
    await writeFile(join(files, 'wp-config.php'), renderWpConfig(secret, undefined, 'before'), {
      mode: 0o600,
    });
    await writeFile(join(files, PRIVATE, ADMIN_FILE), adminText(facts.origin, password), { mode: 0o600 });
    await writeFile(join(files, PRIVATE, ADDRESSES_FILE), addressesText([facts.origin]), { mode: 0o600 });
    await syncFileSystem(beginning);
    // Of an interrupted creation: without its document root, the website does not exist.
    await rm(layout.databaseOf(install.id), { recursive: true, force: true });
    await rename(database, layout.databaseOf(install.id));
    await syncFolder(folder);
    await rename(files, layout.filesOf(install.id));
    await rm(beginning, { recursive: true, force: true });
    await syncFolder(folder);
    await syncFolder(layout.installs);
  }

  return {
    ...versions,

    async prepare(report) {
      const version = await versions.versionFor(null, report);
      const folder = await golden.ensure(version);
      const facts = { version, origin: PLACEHOLDER.origin, passKey: null };
      const { host, protocol } = new URL(facts.origin);
      // Nothing waits for it.
      void php.warmUp({
        pattern: await phpSiteIn('pattern', websiteIn(folder), facts),
        code: FRONT_PAGE_CODE,
        host,
        https: protocol === 'https:',
      });
      return version;
    },

    async provide(install, facts, isNew, signal) {
      if (!existsSync(layout.filesOf(install.id))) {
        if (isNew) await create(install, facts, signal);
        return;
      }
      await writeHostFiles(layout.filesOf(install.id));
      // As the operator may have put it back from a copy of an earlier version. Without a database, no PHP runs.
      if (!existsSync(layout.databaseOf(install.id))) await adoptDatabase(layout, install.id);
    },

    siteOf,
    limitsOf,
    async withLimits(installId, limits, work) {
      tried.set(installId, limits);
      try {
        return await work();
      } finally {
        tried.delete(installId);
      }
    },
    siteIn: (folders, facts) => phpSiteIn(randomUUID(), folders, facts),
    inFolders,

    ...urls,

    async withDatabaseCopy(install, facts, work, signal) {
      const folder = join(await privateOf(install.id), COPY_FOLDER);
      // A link in its place would lead out.
      await rm(folder, { recursive: true, force: true });
      await mkdir(folder, { mode: 0o700 });
      const { host, protocol } = new URL(facts.origin);
      const copied = await php.run(
        await siteOf(install.id, facts),
        {
          code: databaseCopyCode(`${COPY_FOLDER}/${DATABASE}`),
          host,
          https: protocol === 'https:',
          seconds: COPY_SECONDS,
        },
        signal,
      );
      try {
        requireCopied(copied);
        return await work();
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    },

    async upgradeDatabase(folders, facts) {
      const script = { script: 'upgrade.php', timeoutMs: UPGRADE_MS, network: false };
      await inFolder(folders, facts, (site) => run(site, script, facts.origin));
    },
  };
}

function adminText(address: string, password: string): string {
  return `Your WordPress is at ${address}/wp-admin/

User name: ${PLACEHOLDER.user}
Password:  ${password}

Sign in, choose your own password, and delete this file.
`;
}
