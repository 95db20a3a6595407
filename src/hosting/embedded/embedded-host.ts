import { mkdir, stat } from 'node:fs/promises';
import { mapConcurrent, serializeByKey } from '../../lib/concurrency.ts';
import { removeDurably } from '../../lib/durable-file.ts';
import { systemRandomness } from '../../lib/ids.ts';
import { ifThere } from '../../lib/if-there.ts';
import type { ListenAddress } from '../../network/connections/inherited-sockets.ts';
import { PermanentHostError } from '../contract/errors.ts';
import { NO_LIMITS } from '../contract/install-limits.ts';
import type { InstallRef } from '../contract/install-ref.ts';
import { refusalOfEmbedded } from '../policy/capabilities.ts';
import { createPackedArchives } from '../policy/packed-archives.ts';
import { createLoopbackConnections } from '../runtime/wasm/loopback-connections.ts';
import type { PhpConnection } from '../runtime/wasm/php-sites.ts';
import type { ChangeableWebsite } from '../websites/changes/changeable-website.ts';
import { createWebsiteChanges } from '../websites/changes/website-changes.ts';
import { createBackupTables } from './backup-tables.ts';
import { createChosenParts } from './chosen-parts.ts';
import { createChallengeFiles } from './edge/challenge-files.ts';
import { embeddedFigures } from './embedded-figures.ts';
import { layoutOf } from './host-folder/layout.ts';
import { createVhostStore } from './host-folder/vhost-store.ts';
import type {
  EmbeddedAddresses,
  EmbeddedHost,
  EmbeddedHostOptions,
  WordPressSettings,
} from './host-options.ts';
import { createHostedWebsites } from './hosted-websites.ts';
import { createEmbeddedImports } from './imports/embedded-imports.ts';
import { createEmbeddedInventory } from './inventory.ts';
import { createServedWebsites } from './served-websites.ts';
import { createServing, onLoopback } from './serving.ts';
import { createDiskQuotas } from './sftp/disk-quota.ts';
import { removeTree } from './snapshots/archive-exchange.ts';
import { measureWebsite } from './snapshots/measure-website.ts';
import { createSnapshots } from './snapshots/snapshots.ts';
import { createVisitorView } from './visitor-view.ts';
import { createWebsiteBackups } from './website-backups.ts';
import { createWebsiteFiles } from './website-files.ts';
import { createWebsiteLogs } from './website-logs.ts';
import { createWebsiteStates, NO_PHP } from './website-states.ts';
import { adoptDatabase } from './wordpress/adopted-database.ts';
import { changeableWebsite } from './wordpress/changeable-website.ts';
import { createEmbeddedWordPress } from './wordpress/embedded-wordpress.ts';
import { HTTPS_PORT, urlPorts } from './wordpress/origin.ts';
import { NOT_IN_SNAPSHOTS } from './wordpress/site.ts';
import { createWebsiteReadings } from './wordpress/website-readings.ts';
import { createWordPressOperations } from './wordpress/wordpress-operations.ts';

/** Websites at the start. */
const SETTLED_AT_ONCE = 16;
const STATIC_HOST = 'The embedded host serves static websites only';

/** Serves websites from this process, without privileges: real files, WordPress, names, certificates, caches, snapshots and SFTP. */
export function createEmbeddedHost(options: EmbeddedHostOptions): EmbeddedHost {
  const { siteDomain, sealer, clock, log } = options;
  const layout = layoutOf(options.folder);
  const store = createVhostStore(layout);
  const files = createWebsiteFiles(layout);
  const { filesOf } = layout;
  const limits = options.limits ?? NO_LIMITS;
  const snapshots = createSnapshots({
    folder: layout.snapshots,
    filesOf,
    limits,
    clock,
    leftOut: NOT_IN_SNAPSHOTS,
  });
  const chosen = createChosenParts({ layout, snapshots, log });
  const tables = createBackupTables({
    layout,
    snapshots,
    async inFolders(install, folders, work) {
      const found = requireWordPress(install);
      if (found === null) throw new PermanentHostError(refusalOfEmbedded('backup_tables', 'static'));
      return found.sites.inFolders(folders, found.facts, work);
    },
    log,
  });
  const archives = createPackedArchives({ folder: layout.archives, clock });
  const quotas = createDiskQuotas({
    measure: (installId) => measureWebsite(layout, installId, limits),
    limits,
    clock,
  });
  const websiteLogs = createWebsiteLogs({
    layout,
    store,
    rules: options.logRules,
    isServing: options.listen,
    log,
    clock,
  });
  const proofs = createChallengeFiles({ folder: layout.proofs, clock, log });
  const serially = serializeByKey();
  const loopbacks = createLoopbackConnections();
  const websites = createHostedWebsites(store, siteDomain);
  const served = createServedWebsites({ store, sealer, log, clock, serially });
  const wordpress = options.listen && options.wordpress ? withWordPress(options.wordpress) : null;
  const php = wordpress?.requests ?? null;
  const serving = options.listen
    ? createServing({ ...options, layout, store, proofs, quotas, php, loopbacks, logs: websiteLogs })
    : null;
  const inventory = createEmbeddedInventory({
    layout,
    serially,
    onAside: (installId) => serving?.vhosts.refresh(installId),
  });
  let addresses: EmbeddedAddresses | null = null;
  const view = createVisitorView({ ...options, serving, addresses: () => addresses, websites, served });

  function withWordPress(settings: WordPressSettings) {
    return createEmbeddedWordPress({
      settings,
      layout,
      siteDomain,
      loopback: ownAddress,
      loopbacks,
      websites: websites.list,
      served: (): string[] => serving?.withWordPress() ?? [],
      websiteOf: websites.websiteOf,
      async purge(installId, request) {
        if ('everything' in request) await served.purge(installId, ['page']);
        else await served.purgePages(installId, request.paths);
        serving?.vhosts.refresh(installId);
      },
      logs: websiteLogs,
      ports: () => urlPorts(addresses ?? options),
      log,
      clock,
    });
  }

  function ownAddress({ siteId, host, port }: PhpConnection): ListenAddress | undefined {
    if (addresses === null || serving === null) return undefined;
    if (serving.vhosts.known(host.toLowerCase())?.vhost.id !== siteId) return undefined;
    const isSecure = port === HTTPS_PORT || port === addresses.edgeHttps.port;
    return onLoopback(isSecure ? addresses.edgeHttps : addresses.edgeHttp);
  }

  /** The WordPress of an install with what runs it. Null if its website consists of files. */
  function requireWordPress({ id }: InstallRef, website = websites.websiteOf(id)) {
    if (website === null) return null;
    if (wordpress === null) throw new PermanentHostError(NO_PHP);
    return { ...wordpress, facts: website.facts };
  }

  async function start(): Promise<void> {
    for (const folder of [options.folder, layout.installs, layout.vhosts, layout.proofs, layout.changes]) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
    }
    if (serving === null) return;
    try {
      await wordpress?.removeUnfinished();
      await settleDatabases();
      await websiteLogs.start();
      addresses = await serving.start();
      await wordpress?.start();
    } catch (error) {
      await stop();
      throw error;
    }
  }

  /** Completes what a restore that was killed has begun. Moves databases of earlier versions out of the document roots. */
  async function settleDatabases(): Promise<void> {
    await mapConcurrent(await store.list(), SETTLED_AT_ONCE, async (id) => {
      if (websites.usableWebsite(id) === null) return;
      try {
        await snapshots.recover(id);
        await adoptDatabase(layout, id);
        await removeTree(layout.importOf(id));
      } catch (err) {
        log.error({ err, install: id }, 'the database of a website could not be put into its place');
      }
    });
  }

  async function stop(graceMs = 0): Promise<void> {
    addresses = null;
    await serving?.stop(graceMs);
    await chosen.stop();
    await wordpress?.stop();
    // The last, for what the others still log.
    await websiteLogs.stop();
  }

  /** Records and serves another WordPress of the website. */
  async function recordWordPress(install: InstallRef, version: string): Promise<void> {
    const revision = await served.recordWordPress(install.id, version);
    if (revision !== null) await view.showing(install, revision);
  }

  async function changeable(install: InstallRef): Promise<ChangeableWebsite> {
    const found = requireWordPress(install);
    const settings = options.wordpress;
    if (found === null || !settings) {
      throw new PermanentHostError(refusalOfEmbedded('wordpress_changes', 'static'));
    }
    return changeableWebsite({
      wordpress: found,
      website: { ...install, facts: found.facts },
      names: await websites.namesOf(install.id),
      addresses,
      purgePages: () => host.purge(install, 'page'),
      measure: (signal) => measureWebsite(layout, install.id, limits, signal),
      versions: found.versions,
      switchCore: (version) =>
        found.switchCore({ ...install, facts: found.facts }, version, (to) => recordWordPress(install, to)),
      async restore(backupId, wordpressVersion, signal) {
        await backups.restore(install, backupId, { from: install, wordpressVersion }, signal);
      },
      pace: settings.checkPace ?? {},
      clock,
      random: settings.randomness,
    });
  }

  const changes = createWebsiteChanges({
    websiteOf: changeable,
    changeOf: layout.changeOf,
    updateOf: layout.updateOf,
    limits,
    clock,
    log,
  });

  const states = createWebsiteStates({
    edge: options,
    addresses: () => addresses,
    layout,
    websites,
    wordpress,
    served,
    files,
    snapshots,
    inventory,
    logs: websiteLogs,
    serially,
    showing: view.showing,
    recordWordPress,
    changeable,
  });

  const backups = createWebsiteBackups({
    layout,
    websites,
    wordpress,
    snapshots,
    chosen,
    tables,
    archives,
    requireWordPress,
    recordWordPress,
    adoptDatabase: ({ id }) => adoptDatabase(layout, id),
    showReplaced,
    requireHomePage: view.requireHomePage,
    warning: view.warning,
  });

  const imports = createEmbeddedImports({
    layout,
    snapshots,
    async websiteOf(install) {
      const found = requireWordPress(install);
      if (found === null) throw new PermanentHostError(refusalOfEmbedded('imports', 'static'));
      return {
        wordpress: found,
        facts: found.facts,
        async serve(signal) {
          await showReplaced(install, signal);
          await view.requireHomePage(install, found.facts, signal);
        },
        warning: (signal) => view.warning(install, found.facts, signal),
      };
    },
    limits,
    randomness: options.wordpress?.randomness ?? systemRandomness,
    log,
    authority: options.wordpress?.importAuthority,
  });

  /** Shows visitors the files that have replaced those of a website. */
  async function showReplaced(install: InstallRef, signal?: AbortSignal): Promise<void> {
    quotas.forget(install.id);
    await view.showReplaced(install, signal);
  }

  const host: EmbeddedHost = {
    start,
    stop,
    wordpressHere: async () => (await wordpress?.here()) ?? { reason: STATIC_HOST },
    prepareWordPress: async (report) => (await wordpress?.prepare(report)) ?? { reason: STATIC_HOST },
    get addresses() {
      return addresses;
    },

    async retire(install) {
      await inventory.retire(install.id);
      wordpress?.wpCli.end(install.id);
      await wordpress?.php.stop(install.id);
    },

    async removeBackups(install) {
      if ((await store.read(install.id)) !== null) {
        throw new PermanentHostError(`the website ${install.name} exists`);
      }
      await snapshots.removeAll(install.id);
      await chosen.removeAll(install.id);
      await tables.removeAll(install.id);
    },

    async remove(install, { keepBackups = false } = {}) {
      await serially(install.id, async () => {
        await store.delete(install.id);
        await inventory.takeBack(install.id);
      });
      await view.showRemoved(install);
      wordpress?.wpCli.end(install.id);
      await wordpress?.php.stop(install.id);
      await wordpress?.refusals.remove(install.id);
      await removeDurably(layout.changeOf(install.id));
      await removeDurably(layout.updateOf(install.id));
      if (!keepBackups) await snapshots.removeAll(install.id);
      await chosen.removeAll(install.id);
      await tables.removeAll(install.id);
      await archives.removeAll(install.id);
      await files.remove(install.id);
      quotas.forget(install.id);
    },

    purge: async (install, cache) => view.showingPurged(install, await served.purge(install.id, [cache])),

    async purgePages(install, paths) {
      await view.showingPurged(install, await served.purgePages(install.id, paths));
    },

    async measureStorage(install, signal) {
      if ((await ifThere(stat(filesOf(install.id)))) === null) {
        throw new PermanentHostError(`there is no website ${install.name} on this host`);
      }
      const { bytes, files } = await measureWebsite(layout, install.id, limits, signal);
      return { fileBytes: bytes, files, limits, database: null };
    },

    ...createWebsiteReadings({
      layout,
      wordpress,
      installs: () => store.list(),
      websiteOf: websites.usableWebsite,
      refusal: (hasWordPress) => (hasWordPress ? NO_PHP : refusalOfEmbedded('wordpress_details', 'static')),
      log,
    }),
    readLog: websiteLogs.readLog,
    ...states,
    ...backups,
    ...createWordPressOperations(requireWordPress),
    ...imports,
    ...changes,

    async readUsage(since) {
      if (serving === null) throw new Error('this process does not serve the websites');
      return serving.usage.read(since);
    },

    async readFigures() {
      if (serving === null) throw new Error('this process does not serve the websites');
      return embeddedFigures(serving.counts, wordpress);
    },

    publish: (proof) => proofs.publish(proof),
    withdraw: (proof) => proofs.withdraw(proof),

    heldInstalls: inventory.heldInstalls,
    belongTo: inventory.belongTo,
    setAside: inventory.setAside,
  };
  return host;
}
