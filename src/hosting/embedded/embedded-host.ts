import { mkdir, stat } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import { mapConcurrent, serializeByKey, untilAborted } from '../../lib/concurrency.ts';
import { removeDurably } from '../../lib/durable-file.ts';
import { systemRandomness } from '../../lib/ids.ts';
import { ifThere } from '../../lib/if-there.ts';
import type { ListenAddress } from '../../network/connections/listener.ts';
import { PermanentHostError } from '../contract/errors.ts';
import { CACHE_KINDS } from '../contract/host.ts';
import { NO_LIMITS } from '../contract/install-limits.ts';
import type { InstallRef } from '../contract/install-ref.ts';
import type { AppliedInstall, InstallState } from '../contract/install-state.ts';
import type { ReportProgress } from '../contract/progress.ts';
import { ALL_PARTS } from '../contract/snapshots.ts';
import type { LoginRefused } from '../contract/wordpress-login.ts';
import { refusalOfEmbedded } from '../policy/capabilities.ts';
import { createPackedArchives } from '../policy/packed-archives.ts';
import { ask, probe } from '../policy/probe.ts';
import { createLoopbackConnections } from '../runtime/wasm/loopback-connections.ts';
import type { PhpConnection } from '../runtime/wasm/php-sites.ts';
import type { ChangeableWebsite } from '../websites/changes/changeable-website.ts';
import { createWebsiteChanges } from '../websites/changes/website-changes.ts';
import { createChosenParts } from './chosen-parts.ts';
import { createChallengeFiles } from './edge/challenge-files.ts';
import { layoutOf } from './host-folder/layout.ts';
import { parseVhost, type ServedWordPress } from './host-folder/vhost.ts';
import { createVhostStore } from './host-folder/vhost-store.ts';
import type {
  EmbeddedAddresses,
  EmbeddedHost,
  EmbeddedHostOptions,
  WordPressSettings,
} from './host-options.ts';
import { createEmbeddedImports } from './imports/embedded-imports.ts';
import { createEmbeddedInventory } from './inventory.ts';
import { createServedWebsites } from './served-websites.ts';
import { createServing, onLoopback } from './serving.ts';
import { createDiskQuotas } from './sftp/disk-quota.ts';
import { removeTree } from './snapshots/archive-exchange.ts';
import { measureWebsite } from './snapshots/measure-website.ts';
import { createSnapshots } from './snapshots/snapshots.ts';
import { createWebsiteFiles } from './website-files.ts';
import { createWebsiteLogs } from './website-logs.ts';
import { adoptDatabase } from './wordpress/adopted-database.ts';
import { blamingWebsite } from './wordpress/broken-website.ts';
import { changeableWebsite } from './wordpress/changeable-website.ts';
import { restoringCore } from './wordpress/core-switch.ts';
import { createEmbeddedWordPress, type WordPressWebsite } from './wordpress/embedded-wordpress.ts';
import { waitForFetch } from './wordpress/fetch-wait.ts';
import { requireHomePage, visitorsWarning } from './wordpress/home-page.ts';
import { missingData } from './wordpress/missing-data.ts';
import { HTTPS_PORT, isSameButPort, originOf } from './wordpress/origin.ts';
import { phpOf, tryPhpLimits } from './wordpress/php-limits-change.ts';
import { completeChosen, completeRestored, requireParts, restoredIn } from './wordpress/restored-parts.ts';
import { factsOf } from './wordpress/serving.ts';
import { NOT_IN_SNAPSHOTS, type SiteFacts } from './wordpress/site.ts';
import { createWebsiteReadings } from './wordpress/website-readings.ts';

const RESTORING: LoginRefused = {
  refused: 'website',
  reason: 'This website is being restored. Try again in a minute.',
};
/** Websites at the start. */
const SETTLED_AT_ONCE = 16;
const STATIC_HOST = 'The embedded host serves static websites only';
const NO_PHP_TO_RESTART = 'This website consists of files, without PHP.';
const NO_PHP =
  'This machine cannot run WordPress, so it serves static websites only. The log says why. Create the install with the runtime "static".';

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

  function withWordPress(settings: WordPressSettings) {
    return createEmbeddedWordPress({
      settings,
      layout,
      siteDomain,
      loopback: ownAddress,
      loopbacks,
      websites: async () => (await store.list()).flatMap((id) => usableWebsite(id) ?? []),
      websiteOf: (id) => websiteOf(id),
      async purge(installId, request) {
        if ('everything' in request) await served.purge(installId, ['page']);
        else await served.purgePages(installId, request.paths);
        serving?.vhosts.refresh(installId);
      },
      logs: websiteLogs,
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

  /** Null if the install has no website, or one of files. */
  function websiteOf(id: string, text = store.readText(id)): WordPressWebsite | null {
    if (text === null) return null;
    const vhost = parseVhost(text, siteDomain);
    const facts = factsOf(vhost);
    return facts && { id, name: vhost.name, facts };
  }

  /** The edge has logged a file that it cannot use. */
  function usableWebsite(id: string): WordPressWebsite | null {
    try {
      return websiteOf(id);
    } catch {
      return null;
    }
  }

  /** The WordPress of an install with what runs it. Null if its website consists of files. */
  function requireWordPress({ id }: InstallRef, website = websiteOf(id)) {
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
      if (usableWebsite(id) === null) return;
      try {
        await snapshots.recover(id);
        await adoptDatabase(layout, id);
        await removeTree(layout.importOf(id));
      } catch (err) {
        log.error({ err, install: id }, 'the database of a website could not be put into its place');
      }
    });
  }

  async function stop(): Promise<void> {
    addresses = null;
    await serving?.stop();
    await chosen.stop();
    await wordpress?.stop();
    // The last, for what the others still log.
    await websiteLogs.stop();
  }

  /** HTTP address of the edge: this process's own, or the configured one. */
  function edgeAddress(): ListenAddress {
    if (serving === null) return options.edgeHttp;
    if (addresses === null) throw new Error('the host has not been started');
    return addresses.edgeHttp;
  }

  /** Resolves once the edge serves that revision of the install's vhost file. */
  async function showing(install: InstallRef, revision: string, signal?: AbortSignal): Promise<void> {
    serving?.vhosts.refresh(install.id);
    await probe(edgeAddress(), platformName(install), { installId: install.id, revision }, signal);
  }

  function platformName({ name }: InstallRef): string {
    return `${name}.${siteDomain}`;
  }

  /** Records and serves another WordPress of the website. */
  async function recordWordPress(install: InstallRef, version: string): Promise<void> {
    const revision = await served.recordWordPress(install.id, version);
    if (revision !== null) await showing(install, revision);
  }

  /** Switches a website with its database to another WordPress of this host. Without all its data, it stays as it is. */
  async function switchWordPress(install: InstallRef, version: string): Promise<void> {
    const website = usableWebsite(install.id);
    if (wordpress === null || website === null || website.facts.version === version) return;
    if (!(await wordpress.versions()).includes(version) || missingData(layout, install.id).length > 0) return;
    await wordpress.switchCore(website, version, (to) => recordWordPress(install, to));
  }

  /** The WordPress that the website is to have; null if it consists of files. Fetches it if needed. */
  async function wordpressFor(
    state: InstallState,
    report: ReportProgress | undefined,
    signal: AbortSignal | undefined,
  ): Promise<ServedWordPress | null> {
    const present = await served.read(state.id);
    if ((state.runtime ?? 'static') === 'static' || (present && present.wordpress === undefined)) return null;
    if (wordpress === null) throw new PermanentHostError(NO_PHP);
    if (state.wordpressVersion !== null) await switchWordPress(state, state.wordpressVersion);
    const wanted = usableWebsite(state.id)?.facts.version ?? state.wordpressVersion;
    const exists = (await ifThere(stat(filesOf(state.id)))) !== null;
    const { versionFor, versionForPresent } = wordpress.sites;
    const fetching =
      exists && wanted !== null ? versionForPresent(wanted, report) : versionFor(wanted, report);
    return {
      version: await waitForFetch(untilAborted(fetching, signal)),
      origin: originFor(state, present?.wordpress?.origin),
      ...(state.mail ? { mailsPerHour: state.mail.perHour } : {}),
      ...phpOf(state),
    };
  }

  /** A port that the system chose, as for a command beside the stopped server, says nothing about the visitors' address. */
  function originFor(state: InstallState, present: string | undefined): string {
    const origin = originOf(state, addresses ?? options);
    const isChosen = options.edgeHttp.port === 0 || options.edgeHttps.port === 0;
    return isChosen && present !== undefined && isSameButPort(origin, present) ? present : origin;
  }

  /** Resolves once the edge serves the revision. Null: the install has no website. */
  async function showingPurged(install: InstallRef, revision: string | null): Promise<void> {
    if (revision === null) throw new PermanentHostError(`there is no website ${install.name} on this host`);
    await showing(install, revision);
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
      names: (await store.read(install.id))?.file.hostnames.map(({ name }) => name) ?? [],
      addresses,
      purgePages: () => host.purge(install, 'page'),
      measure: (signal) => measureWebsite(layout, install.id, limits, signal),
      versions: found.versions,
      switchCore: (version) =>
        found.switchCore({ ...install, facts: found.facts }, version, (to) => recordWordPress(install, to)),
      async restore(backupId, wordpressVersion, signal) {
        await host.restore(install, backupId, { from: install, wordpressVersion }, signal);
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

  /** Brings the website into this state. */
  async function put(
    state: InstallState,
    signal: AbortSignal | undefined,
    report: ReportProgress | undefined,
  ): Promise<AppliedInstall> {
    const isNew = (await served.read(state.id)) === null;
    const wanted = await wordpressFor(state, report, signal);
    const facts = wanted && { ...wanted, passKey: state.rules?.password?.passKey ?? null };
    const revision = await serially(state.id, async () => {
      await websiteLogs.provide(state.id);
      const write = await served.plan(state, wanted);
      await snapshots.recover(state.id);
      if (facts === null) await files.provide(state);
      else await wordpress?.sites.provide(state, facts, isNew, signal);
      const revision = await write();
      await inventory.takeBack(state.id);
      return revision;
    });
    await showing(state, revision, signal);
    if (facts === null || wordpress === null) {
      return { phpVersion: null, wordpressVersion: null, stableIps: null };
    }
    const here = await wordpress.here();
    return {
      phpVersion: 'version' in here ? here.version : null,
      wordpressVersion: facts.version,
      stableIps: null,
      hasFormerUrls:
        missingData(layout, state.id).length === 0 && (await wordpress.sites.hasFormerUrls(state.id, facts)),
    };
  }

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
          if (addresses !== null)
            await requireHomePage(await namedSite(install, found.facts), addresses, signal);
        },
        warning: async (signal) =>
          addresses && visitorsWarning(await namedSite(install, found.facts), addresses, signal),
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
    const revision = await served.purge(install.id, CACHE_KINDS);
    if (revision !== null) await showing(install, revision, signal);
  }

  async function namedSite({ id }: InstallRef, facts: SiteFacts) {
    return { ...facts, names: (await store.read(id))?.file.hostnames.map(({ name }) => name) ?? [] };
  }

  const host: EmbeddedHost = {
    start,
    stop,
    wordpressHere: async () => (await wordpress?.here()) ?? { reason: STATIC_HOST },
    prepareWordPress: async (report) => (await wordpress?.prepare(report)) ?? { reason: STATIC_HOST },
    get addresses() {
      return addresses;
    },

    async apply(state, signal, report) {
      signal?.throwIfAborted();
      const present = usableWebsite(state.id);
      const { php = null } = phpOf(state);
      if (present === null || wordpress === null || isDeepStrictEqual(present.facts.php ?? null, php)) {
        return put(state, signal, report);
      }
      const { withLimits } = wordpress.sites;
      return tryPhpLimits(await changeable(state), {
        name: state.name,
        withLimits: (work) => withLimits(state.id, php, work),
        keep: () => put(state, signal, report),
        signal,
      });
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
    },

    async remove(install, { keepBackups = false } = {}) {
      await serially(install.id, async () => {
        await store.delete(install.id);
        await inventory.takeBack(install.id);
      });
      if (serving !== null) serving.vhosts.refresh(install.id);
      // Asking makes it refresh. An edge that does not answer serves nothing either.
      else await ask(edgeAddress(), platformName(install), { installId: install.id, revision: 'removed' });
      wordpress?.wpCli.end(install.id);
      await wordpress?.php.stop(install.id);
      await wordpress?.refusals.remove(install.id);
      await removeDurably(layout.changeOf(install.id));
      await removeDurably(layout.updateOf(install.id));
      if (!keepBackups) await snapshots.removeAll(install.id);
      await chosen.removeAll(install.id);
      await archives.removeAll(install.id);
      await files.remove(install.id);
      quotas.forget(install.id);
    },

    purge: async (install, cache) => showingPurged(install, await served.purge(install.id, [cache])),

    async purgePages(install, paths) {
      await showingPurged(install, await served.purgePages(install.id, paths));
    },

    async snapshot(install, backupId, signal, report) {
      // An install that is being deleted is set aside before its last backup.
      const found = requireWordPress(install, websiteOf(install.id, store.readHeldText(install.id)));
      if (found === null) return snapshots.snapshot(install, backupId, signal, report);
      if (found.php.isHeld(install.id)) throw new Error('the website is being restored');
      const make = () =>
        snapshots.snapshot(install, backupId, signal, report, (work, within) =>
          found.php.atRest(install.id, work, within),
        );
      return blamingWebsite(found.sites.withDatabaseCopy(install, found.facts, make, signal));
    },

    async restore(install, backupId, { wordpressVersion, ...given } = {}, signal, report) {
      const website = wordpressVersion === undefined ? null : websiteOf(install.id);
      const restored = () => host.restore(install, backupId, given, signal, report);
      if (wordpressVersion !== undefined && website !== null && wordpress !== null) {
        const record = (version: string) => recordWordPress(install, version);
        return restoringCore(website, wordpressVersion, { versions: wordpress.versions, record }, restored);
      }
      const { parts = ALL_PARTS, from } = given;
      const found = requireWordPress(install);
      requireParts(parts, found !== null);
      const { paths } = parts;
      const options = {
        ...(from ? { from } : {}),
        signal,
        report,
        async complete(next: string, present: string) {
          const complete = paths === undefined ? completeRestored : completeChosen;
          await complete(next, present, parts, found !== null);
          // Before the exchange, so that a failure changes nothing.
          if (found === null || parts.database === 'none') return;
          await found.sites.replaceRestoredUrls({ install, ...restoredIn(next) }, found.facts, signal);
        },
      };
      const restore = () =>
        paths === undefined
          ? snapshots.restore(install, backupId, options)
          : chosen.restore(install, backupId, { ...options, parts: { ...parts, paths } });
      const restoreBoth = () => restore().finally(() => adoptDatabase(layout, install.id));
      const snapshot =
        found === null
          ? await restore()
          : await found.wpCli.whileRefused(install.id, () =>
              found.php.withoutProcess(install.id, restoreBoth),
            );
      await showReplaced(install);
      if (found === null || addresses === null) return snapshot;
      const site = await namedSite(install, found.facts);
      // A copy must answer. A restored install returns to its own former state, even if that did not answer.
      if (from && from.id !== install.id) await requireHomePage(site, addresses, signal);
      const warning = await visitorsWarning(site, addresses, signal);
      return warning === null ? snapshot : { ...snapshot, warning };
    },

    async discardSnapshot(install, backupId) {
      await snapshots.discard(install, backupId);
      // Last, because until then it can be indexed.
      await chosen.forget(install.id, backupId);
    },
    browseBackup: chosen.browseBackup,
    listBackupTables: chosen.listBackupTables,
    readBackupFile: chosen.readBackupFile,
    heldBackups: (install) => snapshots.held(install.id),

    pack: (install, { backupId, archiveId }, signal) =>
      archives.pack(
        install.id,
        archiveId,
        (write) => snapshots.unpack(install, backupId, write, signal),
        signal,
      ),
    readPacked: (install, archiveId, part) => archives.read(install.id, archiveId, part),
    discardPacked: (install, archiveId) => archives.discard(install.id, archiveId),
    async replaceUrls(install, signal) {
      const found = requireWordPress(install);
      // Files are what the customer uploaded.
      if (found !== null) await blamingWebsite(found.sites.replaceUrls(install, found.facts, signal));
    },

    async restartPhp(install) {
      const found = requireWordPress(install);
      if (found === null) throw new PermanentHostError(NO_PHP_TO_RESTART);
      // The next request starts another process.
      await found.php.stop(install.id);
    },

    async measureStorage(install, signal) {
      if ((await ifThere(stat(filesOf(install.id)))) === null) {
        throw new PermanentHostError(`there is no website ${install.name} on this host`);
      }
      const { bytes, files } = await measureWebsite(layout, install.id, limits, signal);
      return { fileBytes: bytes, files, limits, database: null };
    },

    async createLogin(install, user) {
      const found = requireWordPress(install);
      if (found === null) {
        return { refused: 'website', reason: refusalOfEmbedded('wordpress_login', 'static') };
      }
      if (found.php.isHeld(install.id)) return RESTORING;
      const made = await found.createLogin({ ...install, facts: found.facts }, user);
      // It may have begun meanwhile.
      return 'refused' in made && found.php.isHeld(install.id) ? RESTORING : made;
    },
    async createDatabaseLink(install) {
      const found = requireWordPress(install);
      if (found === null) {
        return { refused: 'website', reason: refusalOfEmbedded('database_access', 'static') };
      }
      return found.createDatabaseLink({ ...install, facts: found.facts });
    },
    async runWpCli(install, args, signal) {
      const found = requireWordPress(install);
      if (found !== null) return found.wpCli.run(install, found.facts, args, signal);
      return { refused: 'website', reason: refusalOfEmbedded('wp_cli', 'static') };
    },
    async readMail(install) {
      const found = requireWordPress(install);
      if (found !== null) return (await found.mail()).read(install, found.facts.mailsPerHour);
      return { refused: 'website', reason: refusalOfEmbedded('mail_limits', 'static') };
    },
    ...createWebsiteReadings({
      layout,
      wordpress,
      installs: () => store.list(),
      websiteOf: usableWebsite,
      refusal: (hasWordPress) => (hasWordPress ? NO_PHP : refusalOfEmbedded('wordpress_details', 'static')),
      log,
    }),
    readLog: websiteLogs.readLog,
    ...imports,

    async readUsage(since) {
      if (serving === null) throw new Error('this process does not serve the websites');
      return serving.usage.read(since);
    },

    publish: (proof) => proofs.publish(proof),
    withdraw: (proof) => proofs.withdraw(proof),

    heldInstalls: inventory.heldInstalls,
    belongTo: inventory.belongTo,
    setAside: inventory.setAside,
    ...changes,
  };
  return host;
}
