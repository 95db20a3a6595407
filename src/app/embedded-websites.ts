import { rm, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { trustsAddress } from '../api/client-address.ts';
import type { Config } from '../config/config.ts';
import type { Database } from '../database/database.ts';
import type { FolderHere, WebsitesClaim } from '../features/hosts/websites-folder.ts';
import { findWebsitesFolder } from '../features/hosts/websites-folder-store.ts';
import { createSshLogin } from '../features/identity/ssh-keys/ssh-login.ts';
import { EMBEDDED } from '../features/provisioning/orphan-store.ts';
import { requireNameFree } from '../features/provisioning/orphans.ts';
import { createReconciling } from '../features/provisioning/reconciling.ts';
import { notePhpOfAll } from '../features/websites/installs/website-store.ts';
import type { BackupBrowser } from '../hosting/contract/backup-contents.ts';
import type { WordPressHere } from '../hosting/contract/embedded-wordpress.ts';
import type { Host } from '../hosting/contract/host.ts';
import { installLimits, NO_LIMITS } from '../hosting/contract/install-limits.ts';
import type { LogSource } from '../hosting/contract/logs.ts';
import { createChosenParts } from '../hosting/embedded/chosen-parts.ts';
import { createEmbeddedHost } from '../hosting/embedded/embedded-host.ts';
import {
  provideFolderId,
  readFolderId,
  replaceUnusableFolderId,
} from '../hosting/embedded/host-folder/folder-id.ts';
import { createLastServer } from '../hosting/embedded/host-folder/last-server.ts';
import { type Layout, layoutOf } from '../hosting/embedded/host-folder/layout.ts';
import { createVhostStore } from '../hosting/embedded/host-folder/vhost-store.ts';
import type { WordPressSettings } from '../hosting/embedded/host-options.ts';
import { createEmbeddedInventory, type EmbeddedInventory } from '../hosting/embedded/inventory.ts';
import { phpAsChosen, reportPhp } from '../hosting/embedded/php-choice.ts';
import { platformParts } from '../hosting/embedded/platform-parts.ts';
import { publicHostKey } from '../hosting/embedded/sftp/ssh-host-key.ts';
import { type DamagedBackups, damagedBackups } from '../hosting/embedded/snapshots/damaged-backups.ts';
import { createSnapshots } from '../hosting/embedded/snapshots/snapshots.ts';
import { createWebsiteFiles } from '../hosting/embedded/website-files.ts';
import { createWebsiteLogs } from '../hosting/embedded/website-logs.ts';
import { visitorFaults } from '../hosting/embedded/wordpress/home-page.ts';
import {
  hasWordPressIn,
  type InspectedWordPress,
  inspectWordPress,
} from '../hosting/embedded/wordpress/inspect-wordpress.ts';
import { missingData } from '../hosting/embedded/wordpress/missing-data.ts';
import { runtimeFoldersOf } from '../hosting/embedded/wordpress/site.ts';
import { createPackedArchives } from '../hosting/policy/packed-archives.ts';
import { machinePhp } from '../hosting/runtime/machine/machine-engine.ts';
import { createPhpSites } from '../hosting/runtime/wasm/create-php-sites.ts';
import { createDestinations } from '../hosting/runtime/wasm/destinations.ts';
import {
  providePhpMyAdmin,
  provideSqlitePlugin,
  provideWpCli,
} from '../hosting/runtime/wasm/packaged-copies.ts';
import { wasmFiles } from '../hosting/runtime/wasm/wasm-runtime.ts';
import type { PageFault } from '../hosting/websites/probe/visitor-probe.ts';
import { newestFatals } from '../hosting/websites/probe/website-scripts.ts';
import { heldVersions } from '../hosting/wordpress/core-tree.ts';
import { type Clock, systemClock } from '../lib/clock.ts';
import { repeatEvery, serializeByKey } from '../lib/concurrency.ts';
import { removeDurably } from '../lib/durable-file.ts';
import { MINUTE_MS } from '../lib/durations.ts';
import { ifThere } from '../lib/if-there.ts';
import { runs } from '../lib/running-process.ts';
import { createMailer } from '../mail/mailer.ts';
import type { SocketLimiters } from '../network/connections/socket-limiters.ts';
import type { ObjectStorage } from '../network/object-storage/object-storage.ts';
import { createAddressPolicy } from '../network/probe/address-policy.ts';
import type { Platform } from '../platform/platform.ts';
import type { WebsiteParts } from '../platform-backup/website-parts.ts';
import { embeddedPhpBounds, phpMemoryMb } from './embedded-php.ts';
import { RECONCILE_MS, type Websites } from './linux-fleet.ts';
import { logRulesOf } from './log-rules.ts';
import { answerOtherProcesses } from './serving-socket.ts';

const folderOf = ({ dataDir }: Pick<Config, 'dataDir'>): string => join(dataDir, 'host');

const layoutFor = (config: Pick<Config, 'dataDir'>): Layout => layoutOf(folderOf(config));

/** Serves websites from this process, once `claim` has confirmed its folder. */
export function createEmbeddedWebsites(
  platform: Platform,
  {
    objectStorage,
    claim,
    connections,
  }: { objectStorage: ObjectStorage; claim: WebsitesClaim; connections: SocketLimiters },
): Websites {
  const { config, database, sealer, log, clock } = platform;
  const untraced = createEmbeddedHost({
    folder: folderOf(config),
    edgeHttp: config.edgeHttp,
    edgeHttps: config.edgeHttps,
    sshListen: config.sshListen,
    siteDomain: config.siteDomain,
    sealer,
    objectStorage,
    questions: { sshLogin: createSshLogin(database) },
    connections,
    log,
    clock,
    listen: true,
    limits: installLimits({ diskGb: config.installDiskGb, files: config.installFiles }),
    logRules: logRulesOf(config),
    wordpress:
      config.embeddedPhpMb === 0 ? null : wordpressOf(platform, { onPhpChosen: () => void wordpressHere() }),
    isTrustedProxy: (address) => trustsAddress(config.trustProxy, address),
  });
  /** Stores the version of PHP of the websites, which changes with the machine. */
  async function noted<Here extends WordPressHere>(here: Here): Promise<Here> {
    if (!('version' in here)) return here;
    try {
      await reportPhp(layoutFor(config).phpChoice, here.version, (version) =>
        database.write(({ queries }) => notePhpOfAll(queries, version)),
      );
    } catch (err) {
      log.warn({ err }, 'the version of PHP could not be stored');
    }
    return here;
  }
  const wordpressHere = async () => noted(await embedded.wordpressHere());
  const embedded = platform.tracing?.ofHost(untraced, EMBEDDED) ?? untraced;
  let answering: Awaited<ReturnType<typeof answerOtherProcesses>> | undefined;
  const host: Host = {
    ...embedded,
    async start() {
      // A database inside the data folder always belongs to its websites.
      if (config.databaseUrl !== null) {
        const pause = (ms: number) => sleep(ms);
        const lastServer = createLastServer(layoutFor(config).lastServer);
        const name = `${hostname()}:${process.pid}`;
        await claim(
          { database, clock, pause, runsHere: runs, lastServer, process: name },
          await websitesFolderOf(platform),
        );
      }
      await embedded.start();
      answering = await answerOtherProcesses(config, embedded, log);
    },
    async stop(graceMs) {
      await answering?.stop();
      await embedded.stop(graceMs);
    },
    async apply(state, signal, report) {
      await requireNameFree(database.reader, EMBEDDED, state);
      return embedded.apply(state, signal, report);
    },
  };
  return {
    host,
    hostOf: async () => host,
    fetching: async () => [],
    answering: async () => [{ host: EMBEDDED, hostId: null, source: embedded }],
    addresses: () => embedded.addresses,
    wordpressHere,
    async prepareWordPress(report) {
      const prepared = await embedded.prepareWordPress(report);
      if ('php' in prepared) await noted(prepared.php);
      return prepared;
    },
    async startReconciling() {
      const reconciling = createReconciling(platform);
      const reconcile = () => reconciling.run(EMBEDDED, embedded);
      await reconcile();
      const repetition = repeatEvery(reconcile, {
        delayMs: RECONCILE_MS,
        onError: (err) => log.warn({ err }, 'the websites could not be reconciled with the database'),
      });
      return {
        async stop() {
          const stopped = repetition.stop();
          await reconciling.stop();
          await stopped;
        },
      };
    },
  };
}

/** Folders of programs. */
const programPath = (): string => process.env.PATH ?? '';

/** How long a request waits for a process of PHP, and for a thread in it. */
const PHP_WAIT_MS = 20_000;

/** Inspects the packages, the source and the limits that WordPress has on this machine. */
export const embeddedWordPress = (
  config: Pick<Config, 'dataDir' | 'embeddedPhp'>,
): Promise<InspectedWordPress> =>
  inspectWordPress(layoutFor(config), { setting: config.embeddedPhp, path: programPath() });

/** The versions of WordPress that the embedded host has, newest first. Every process of its machine reads its folder. */
export const embeddedVersions = (config: Pick<Config, 'dataDir'>): Promise<string[]> =>
  heldVersions(layoutFor(config).cores);

function wordpressOf(
  { config, random, log, clock }: Platform,
  callbacks: Pick<WordPressSettings, 'onPhpChosen'>,
): WordPressSettings {
  const mailer = createMailer(config, clock);
  return {
    ...callbacks,
    source: config.wordpressSource,
    url: config.wordpressUrl,
    releasesUrl: config.wordpressFetch ? config.wordpressReleasesUrl : null,
    randomness: random,
    sqlitePlugin: provideSqlitePlugin,
    wpCli: provideWpCli,
    phpMyAdmin: providePhpMyAdmin,
    createPhp: (callbacks) =>
      createPhpSites(
        {
          ...callbacks,
          idleMs: config.embeddedPhpIdleMinutes * MINUTE_MS,
          memoryMb: phpMemoryMb(config),
          waitMs: PHP_WAIT_MS,
          spare: true,
          mayConnect: createDestinations({
            isPublic: createAddressPolicy([]),
            edgePorts: [config.edgeHttp.port, config.edgeHttps.port],
          }),
          log,
        },
        phpAsChosen(machinePhp({ path: programPath(), date: () => clock.now() }), {
          setting: config.embeddedPhp,
          file: layoutFor(config).phpChoice,
          hasWordPress: () => hasWordPressIn(layoutFor(config)),
          log,
        }),
      ),
    mail: {
      hasServer: config.smtpUrl !== null,
      senderOf: (installName) =>
        config.relaySender?.replaceAll('{name}', installName) ?? platformAddress(config),
      platformAddress: platformAddress(config),
      portalHost: new URL(config.publicUrl).hostname,
      perHour: config.installMailsPerHour,
      send: (mail) => mailer.forward(mail),
    },
    phpBounds: embeddedPhpBounds(config),
  };
}

/** The address in the sender of the platform. Its mail server accepts it, so it is the envelope sender of websites, too. */
const platformAddress = ({ mailFrom }: Pick<Config, 'mailFrom'>): string =>
  /<([^<>]+)>\s*$/.exec(mailFrom)?.[1] ?? mailFrom.trim();

/** Known damage of the backups of websites in the data folder. */
export const damagedBackupsIn = (config: Pick<Config, 'dataDir'>): Promise<DamagedBackups[]> =>
  damagedBackups(layoutFor(config).snapshots);

/** The websites for platform backups; null if they are on Linux hosts. */
export function websiteParts(config: Pick<Config, 'dataDir' | 'host'>, clock: Clock): WebsiteParts | null {
  return config.host === 'embedded' ? platformParts(folderOf(config), clock) : null;
}

/** The folder from which this process would serve websites. */
export async function websitesFolderOf({
  config,
  random,
}: Pick<Platform, 'config' | 'random'>): Promise<FolderHere> {
  return {
    id: await provideFolderId(layoutFor(config).folderId, random.uuid),
    machine: hostname(),
    path: config.dataDir,
  };
}

/** The folder for a take-over: it gets an id even if its file no longer has one. */
export async function replacedWebsitesFolder(
  platform: Pick<Platform, 'config' | 'random'>,
): Promise<FolderHere> {
  await replaceUnusableFolderId(layoutFor(platform.config).folderId, platform.random.uuid);
  return websitesFolderOf(platform);
}

/** Read from its file, whichever process of this machine serves SFTP. */
export async function embeddedHostKeys(config: Config): Promise<string[]> {
  const key = await publicHostKey(layoutFor(config).sshHostKey);
  return key === null ? [] : [key];
}

/** The parts of an install's website outside the data folder. */
export interface MissingParts {
  /** The edge's configuration of the install; without it nothing is served. */
  vhost: boolean;
  files: boolean;
  /** The missing data of its WordPress, one sentence each. Visitors then see that it is closed. Empty for a website of files. */
  data: string[];
}

/** Reads and changes nothing. */
export async function missingParts(
  config: Pick<Config, 'dataDir'>,
  installId: string,
): Promise<MissingParts> {
  const layout = layoutFor(config);
  const [vhost, files] = await Promise.all([
    ifThere(stat(layout.vhostOf(installId))),
    ifThere(stat(layout.filesOf(installId))),
  ]);
  const served = vhost === null ? null : await createVhostStore(layout).read(installId);
  const data = served?.file.wordpress === undefined ? [] : missingData(layout, installId);
  return { vhost: vhost === null, files: files === null, data };
}

/** Whether all data of an install's website is there, served or not. Reads and changes nothing. */
export async function hasAllData(
  config: Pick<Config, 'dataDir'>,
  { id, runtime }: { id: string; runtime: string | null },
): Promise<boolean> {
  const layout = layoutFor(config);
  if (runtime === 'wordpress') return missingData(layout, id).length === 0;
  return (await ifThere(stat(layout.filesOf(id)))) !== null;
}

/** Gives the check of an install's pages from the edge of the running server; null without WordPress, and if data is missing. */
export async function pagesOf(
  config: Pick<Config, 'dataDir' | 'edgeHttp' | 'edgeHttps'>,
  installId: string,
): Promise<(() => Promise<PageFault[]>) | null> {
  const layout = layoutFor(config);
  const { wordpress, hostnames, rules } = (await createVhostStore(layout).read(installId))?.file ?? {};
  if (wordpress === undefined || missingData(layout, installId).length > 0) return null;
  const names = (hostnames ?? []).map(({ name }) => name);
  const site = { origin: wordpress.origin, names, passKey: rules?.password?.passKey ?? null };
  const files = wasmFiles(runtimeFoldersOf(layout, installId));
  return () => visitorFaults(site, config, { fatals: () => newestFatals(files) });
}

/** The folder's inventory, for a command: a server's edge follows the folder. */
export function folderInventory(config: Pick<Config, 'dataDir'>): EmbeddedInventory {
  return createEmbeddedInventory({ layout: layoutFor(config), serially: serializeByKey(), onAside() {} });
}

/** Browses the files of snapshots in the folder, for a process that does not serve its websites. */
export function folderBrowser(
  config: Pick<Config, 'dataDir'>,
  log: Logger,
): Pick<BackupBrowser, 'browseBackup' | 'readBackupFile'> {
  const layout = layoutFor(config);
  const snapshots = createSnapshots({
    ...{ folder: layout.snapshots, filesOf: layout.filesOf, limits: NO_LIMITS, clock: systemClock },
  });
  return createChosenParts({ layout, snapshots, log });
}

/** Reads the logs of the websites in the folder, for a process that does not serve them. */
export function folderLogs(config: Config, log: Logger): LogSource {
  const layout = layoutFor(config);
  return createWebsiteLogs({
    layout,
    store: createVhostStore(layout),
    rules: logRulesOf(config),
    isServing: false,
    log,
    clock: systemClock,
  });
}

/** Deletes everything in the folder of an install, backups included. The caller ensures that no server uses it. */
export async function discardFromFolder(
  { config, clock }: Pick<Platform, 'config' | 'clock'>,
  installId: string,
): Promise<void> {
  const layout = layoutFor(config);
  await removeDurably(layout.vhostOf(installId));
  await rm(layout.refusalsOf(installId), { force: true });
  for (const indexes of [layout.snapshotIndexes, layout.tableIndexes]) {
    await rm(join(indexes, installId), { recursive: true, force: true });
  }
  await rm(layout.changeOf(installId), { force: true });
  await folderInventory(config).takeBack(installId);
  const snapshots = createSnapshots({
    folder: layout.snapshots,
    filesOf: layout.filesOf,
    limits: NO_LIMITS,
    clock,
  });
  await snapshots.removeAll(installId);
  await createPackedArchives({ folder: layout.archives, clock }).removeAll(installId);
  await createWebsiteFiles(layout).remove(installId);
}

/** Whether the websites of the database are in this process's folder. */
export async function isOwnFolder(
  config: Pick<Config, 'dataDir' | 'databaseUrl'>,
  { reader }: Pick<Database, 'reader'>,
): Promise<boolean> {
  if (config.databaseUrl === null) return true;
  const claimed = await findWebsitesFolder(reader);
  return claimed !== undefined && claimed.id === (await presentFolderId(config));
}

/** The id of this process's folder, if it has one. */
export function presentFolderId(config: Pick<Config, 'dataDir'>): Promise<string | null> {
  return readFolderId(layoutFor(config).folderId);
}
