import { mkdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Logger } from 'pino';
import type { Clock } from '../../../lib/clock.ts';
import type { Repetition } from '../../../lib/concurrency.ts';
import { MINUTE_MS } from '../../../lib/durations.ts';
import { messageOf } from '../../../lib/error-message.ts';
import type { ListenAddress } from '../../../network/connections/inherited-sockets.ts';
import type {
  PreparedWordPress,
  WordPressHere,
  WordPressLacking,
} from '../../contract/embedded-wordpress.ts';
import { PermanentHostError } from '../../contract/errors.ts';
import type { InstallRef } from '../../contract/install-ref.ts';
import type { ReportProgress } from '../../contract/progress.ts';
import type { LoginRefused, WordPressLogin } from '../../contract/wordpress-login.ts';
import type { InstallRuntime } from '../../runtime/runtime.ts';
import { OWN_PREFIX, removeAbandoned } from '../../runtime/wasm/abandoned-entries.ts';
import { SEEN } from '../../runtime/wasm/library-script.ts';
import type { LoopbackConnections } from '../../runtime/wasm/loopback-connections.ts';
import type { PhpAvailability, PhpConnection, PhpSites } from '../../runtime/wasm/php-sites.ts';
import { removeProcessFolders } from '../../runtime/wasm/process-folder.ts';
import { wasmRuntime } from '../../runtime/wasm/wasm-runtime.ts';
import { runCron } from '../../websites/cron/run-cron.ts';
import { createLogin } from '../../websites/login/create-login.ts';
import type { UrlPorts } from '../../websites/urls/replace-urls.ts';
import { createWordPressCores } from '../../wordpress/cores.ts';
import { writePhpFiles } from '../../wordpress/php-files.ts';
import type { Layout } from '../host-folder/layout.ts';
import type { WordPressSettings } from '../host-options.ts';
import { createRareLog } from '../rare-log.ts';
import type { WebsiteLogs } from '../website-logs.ts';
import { switchCore } from './core-switch.ts';
import { createEmbeddedDatabaseLinks } from './database-link.ts';
import { createMailRefusals, type MailRefusals } from './mail-refusals.ts';
import { followReleases } from './newer-releases.ts';
import type { PurgeRequest } from './purge-requests.ts';
import { createWordPressServing, type WordPressServing } from './serving.ts';
import { databaseNameOf, phpRootsOf, runtimeFoldersOf, type SiteFacts } from './site.ts';
import type { WebsiteMail } from './website-mail.ts';
import { createWordPressSites, type WordPressSites } from './wordpress-sites.ts';
import { createEmbeddedWpCli, type EmbeddedWpCli } from './wp-cli.ts';

/** A website with WordPress, as it is served. */
export interface WordPressWebsite extends InstallRef {
  facts: SiteFacts;
}

/** The parts that this process needs to run WordPress. */
export interface EmbeddedWordPress {
  php: PhpSites;
  sites: WordPressSites;
  requests: WordPressServing;
  wpCli: EmbeddedWpCli;
  runtimeOf(website: WordPressWebsite): InstallRuntime;
  createLogin(website: WordPressWebsite, user: string | null): Promise<WordPressLogin | LoginRefused>;
  createDatabaseLink: ReturnType<typeof createEmbeddedDatabaseLinks<WordPressWebsite>>;
  /** The versions of WordPress that this host has, newest first. */
  versions(): Promise<string[]>;
  /** See core-switch.ts. */
  switchCore(
    website: WordPressWebsite,
    version: string,
    record: (version: string) => Promise<void>,
  ): Promise<void>;
  mail(): Promise<WebsiteMail>;
  refusals: MailRefusals;
  /** Whether PHP runs on this machine. Logs each reason why not once. */
  here(): Promise<WordPressHere>;
  /** Makes WordPress ready for new websites. Returns the versions, or why it cannot run here. */
  prepare(report?: ReportProgress): Promise<PreparedWordPress | WordPressLacking>;
  /** Removes what killed processes left, and nothing of running ones. Before anything can run PHP. */
  removeUnfinished(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

interface EmbeddedWordPressOptions {
  settings: WordPressSettings;
  layout: Layout;
  siteDomain: string;
  /** The place to which a website's request to one of its names goes. */
  loopback(connection: PhpConnection): ListenAddress | undefined;
  loopbacks: LoopbackConnections;
  websites(): Promise<WordPressWebsite[]>;
  /** Ids of those that are served now. */
  served(): string[];
  websiteOf(installId: string): WordPressWebsite | null;
  purge(installId: string, request: PurgeRequest): Promise<void>;
  logs: Pick<WebsiteLogs, 'append'>;
  /** Of this host now. */
  ports(): UrlPorts;
  log: Logger;
  clock: Clock;
}

/** The SQLite plugin needs it. */
const OLDEST_WORDPRESS = '6.4';
/** Until PHP is tried again after it did not start. */
const RETRY_MS = MINUTE_MS;

export function createEmbeddedWordPress(options: EmbeddedWordPressOptions): EmbeddedWordPress {
  const { settings, layout, siteDomain, websites, websiteOf, logs, log, clock } = options;
  const { source, url, releasesUrl, randomness } = settings;
  const rarely = createRareLog(clock);
  const refusals = createMailRefusals(layout, clock);
  let made: Promise<WebsiteMail> | undefined;
  /** Loaded with the first email, to keep time and memory out of the start. */
  const mail = () => {
    made ??= import('./website-mail.ts').then(({ createWebsiteMail }) =>
      createWebsiteMail({
        ...settings.mail,
        siteDomain,
        refusals,
        appendLog: (id, entry) =>
          void logs.append('mail', id, [{ time: clock.now().toISOString(), ...entry }]),
        clock,
        randomness,
      }),
    );
    return made;
  };
  const php = settings.createPhp({
    folder: layout.php,
    codeFolder: layout.phpCode,
    roots: phpRootsOf(layout),
    loopback: options.loopback,
    loopbacks: options.loopbacks,
    onChosen: () => settings.onPhpChosen?.(),
    async deliverMail(sent) {
      const website = websiteOf(sent.siteId);
      if (website === null) throw new Error('the website is being created');
      try {
        await (await mail()).send(website, website.facts.mailsPerHour, sent);
      } catch (err) {
        rarely(website.id, (leftOut) =>
          log.info({ err, install: website.id, leftOut }, 'an email of a website was refused'),
        );
        throw err;
      }
    },
  });
  const stopping = new AbortController();
  const cores = createWordPressCores({
    layout: { ...layout, scratch: join(layout.scratch, `${OWN_PREFIX}cores`) },
    source,
    url,
    archive: 'tar.gz',
    oldest: OLDEST_WORDPRESS,
    log,
    signal: stopping.signal,
  });
  const sqlitePlugin = once(() => settings.sqlitePlugin(layout.sqlite));
  const wpCliFolder = once(() => settings.wpCli(layout.wpCli));
  const phpMyAdmins = once(async () => {
    await mkdir(layout.phpMyAdmin, { recursive: true });
    return layout.phpMyAdmin;
  });
  const phpMyAdmin = once(() => settings.phpMyAdmin(layout.phpMyAdmin));
  const sites = createWordPressSites({
    layout,
    cores,
    php,
    sqlitePlugin,
    wpCli: wpCliFolder,
    phpBounds: settings.phpBounds,
    phpMyAdmin: phpMyAdmins,
    ports: options.ports,
    log,
    clock,
    randomness,
  });
  const runtimeOf = ({ id, facts }: Pick<WordPressWebsite, 'id' | 'facts'>): InstallRuntime =>
    wasmRuntime({
      php,
      site: () => sites.siteOf(id, facts),
      origin: facts.origin,
      folders: runtimeFoldersOf(layout, id),
    });
  const requests = createWordPressServing({
    layout,
    sites,
    php,
    served: options.served,
    websiteOf,
    purge: options.purge,
    runCron: (website, signal) =>
      runCron(
        runtimeOf(website),
        { append: (entry) => logs.append('cron', website.id, [entry]), clock },
        signal,
      ),
    log,
    clock,
  });
  const wpCli = createEmbeddedWpCli({
    php,
    siteOf: sites.siteOf,
    settle: (installId) => requests.settle({ id: installId }),
  });

  let checked: { result: Promise<WordPressHere>; atMs: number } | null = null;
  let loggedReason: string | null = null;
  let releases: Repetition | undefined;

  async function check(): Promise<WordPressHere> {
    const found = await availability();
    if ('version' in found) return { ...found, version: found.version.split('.').slice(0, 2).join('.') };
    const { reason, mayPass = false } = found;
    if (reason !== loggedReason) {
      log.warn(
        { reason },
        mayPass
          ? 'WordPress cannot run now'
          : 'this machine cannot run WordPress, so it serves static websites',
      );
    }
    loggedReason = reason;
    return { reason: `This machine cannot run WordPress: ${reason}`, ...(mayPass && { mayPass }) };
  }

  async function availability(): Promise<PhpAvailability> {
    const found = await php.available();
    if ('reason' in found) return found;
    try {
      await sqlitePlugin();
      return found;
    } catch (error) {
      return { reason: messageOf(error) };
    }
  }

  async function here(): Promise<WordPressHere> {
    const now = clock.now().getTime();
    const known = checked;
    if (known !== null) {
      const result = await known.result;
      // One that runs is cheap to ask, and can change with the machine.
      if ('reason' in result && now - known.atMs < RETRY_MS) return result;
    }
    if (checked === known) checked = { result: check(), atMs: now };
    return checked?.result ?? check();
  }

  const usedVersions = async () => (await websites()).map(({ facts }) => facts.version);

  function followNewReleases(): void {
    if (releasesUrl === null || !cores.isOfficial || stopping.signal.aborted) return;
    releases ??= followReleases({
      layout,
      cores,
      url: releasesUrl,
      fetch: (address, init) =>
        fetch(address, {
          ...init,
          signal: AbortSignal.any([stopping.signal, ...(init?.signal ? [init.signal] : [])]),
        }),
      used: usedVersions,
      prepare: () => sites.prepare(),
      clock,
      log,
    });
  }

  /** A restored platform has websites of versions that this machine lacks. */
  async function fetchMissing(): Promise<void> {
    const versions = new Set(await usedVersions());
    for (const version of await cores.list()) versions.delete(version);
    try {
      for (const version of versions) await sites.versionForPresent(version);
    } catch (err) {
      if (!stopping.signal.aborted) log.error({ err }, 'websites lack their WordPress');
    }
  }

  return {
    php,
    sites,
    requests,
    wpCli,
    runtimeOf,
    createLogin: (website, user) =>
      createLogin(runtimeOf(website), {
        ...{ installId: website.id, database: databaseNameOf(website.id), user },
        ...{ log, clock, randomness },
      }),
    createDatabaseLink: createEmbeddedDatabaseLinks<WordPressWebsite>({
      php,
      runtimeOf,
      phpMyAdmin: async () => `${SEEN.phpMyAdmin}/${basename(await phpMyAdmin())}`,
      log,
      clock,
      randomness,
    }),
    versions: cores.list,
    switchCore: (website, version, record) =>
      wpCli.whileRefused(website.id, () => switchCore(website, version, { layout, php, sites, record, log })),
    mail,
    refusals,
    here,
    async prepare(report) {
      const known = await checked?.result;
      if (known !== undefined && 'reason' in known && known.mayPass) checked = null;
      const found = await here();
      if ('reason' in found) return found;
      try {
        const wordpress = await sites.prepare(report);
        followNewReleases();
        return { wordpress, php: found };
      } catch (error) {
        if (error instanceof PermanentHostError) return { reason: error.message };
        throw error;
      }
    },
    async removeUnfinished() {
      for (const folder of [layout.scratch, layout.making]) await removeAbandoned(folder, log);
      await removeProcessFolders(layout.php, log);
    },
    async start() {
      for (const version of await cores.list()) await writePhpFiles(layout.coreOf(version));
      requests.start();
      void fetchMissing();
    },
    async stop() {
      stopping.abort(new Error('Homeport is stopping'));
      void releases?.stop();
      await requests.stop();
    },
  };
}

/** Provides something once, because every request needs it. A failure is tried again. */
function once<Result>(provide: () => Promise<Result>): () => Promise<Result> {
  let made: Promise<Result> | undefined;
  return () => {
    const provided = made ?? provide();
    made = provided;
    provided.catch(() => {
      if (made === provided) made = undefined;
    });
    return provided;
  };
}
