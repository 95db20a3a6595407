import { mkdir, stat } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Logger } from 'pino';
import type { Clock } from '../../lib/clock.ts';
import { serializeByKey } from '../../lib/concurrency.ts';
import { ifThere } from '../../lib/if-there.ts';
import type { ListenAddress } from '../../network/connections/listener.ts';
import type { SocketLimiters } from '../../network/connections/socket-limiters.ts';
import type { ObjectStorage } from '../../network/object-storage/object-storage.ts';
import type { Sealer } from '../../secrets/sealer.ts';
import {
  ALL_PARTS,
  CACHE_KINDS,
  type CacheKind,
  type Host,
  type InstallRef,
  type InstallState,
  PermanentHostError,
  RefusedImportError,
  RefusedRestoreError,
  type RestoredParts,
  type SshQuestions,
} from '../contract/host.ts';
import { type InstallLimits, NO_LIMITS } from '../contract/install-limits.ts';
import type { Inventory } from '../contract/inventory.ts';
import type { UsageSource } from '../contract/usage.ts';
import type { WordPressMarks } from '../contract/wordpress.ts';
import { createPackedArchives } from '../policy/packed-archives.ts';
import { ask, probe } from '../policy/probe.ts';
import { NO_DATABASE, NO_LOGS, NO_MAIL, noWordPress, STATIC_ONLY } from '../policy/static-only.ts';
import { createUsageLedger, type UsageLedger } from '../policy/usage/ledger.ts';
import { createCaches, DEFAULT_CACHE_LIMITS } from './edge/caches.ts';
import { createChallengeFiles } from './edge/challenge-files.ts';
import { createEdge, type Edge } from './edge/edge.ts';
import { createEdgeCertificate } from './edge/edge-certificate.ts';
import { createFileFinder } from './edge/file-finder.ts';
import { createLiveVhosts, type LiveVhosts } from './edge/live-vhosts.ts';
import { parseSitePath } from './edge/request-target.ts';
import { addressOf, createResponseMeter } from './edge/response-meter.ts';
import { createServedCertificates } from './edge/served-certificates.ts';
import { createStaticFiles } from './edge/static-files.ts';
import { type Generations, generationsAfterPurge, nextGenerations } from './host-folder/generations.ts';
import { layoutOf } from './host-folder/layout.ts';
import { rulesIn, stateOf, type VhostFile, vhostFileFor } from './host-folder/vhost.ts';
import { createVhostStore } from './host-folder/vhost-store.ts';
import { createEmbeddedInventory } from './inventory.ts';
import { createDiskQuotas } from './sftp/disk-quota.ts';
import { createSftpGateway } from './sftp/sftp-gateway.ts';
import { measureFiles } from './snapshots/measure-files.ts';
import { createSnapshots } from './snapshots/snapshots.ts';
import { createWebsiteFiles } from './website-files.ts';

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
  /** Whether a peer is a proxy whose `X-Forwarded-For` names the visitor. None by default. */
  isTrustedProxy?: (address: string) => boolean;
  /** Time for active requests to finish after a stop, in milliseconds. Default: 5 s. */
  graceMs?: number;
}

/** The addresses that the host listens on, with actual ports. */
export interface EmbeddedAddresses {
  edgeHttp: ListenAddress;
  edgeHttps: ListenAddress;
  ssh: ListenAddress;
}

export interface EmbeddedHost extends Host, Inventory, UsageSource, WordPressMarks {
  /** Null before the start, and if it does not listen. */
  readonly addresses: EmbeddedAddresses | null;
}

const GRACE_MS = 5_000;

/** Serves websites from this process, without privileges: real files, names, certificates, caches, snapshots and SFTP. */
export function createEmbeddedHost(options: EmbeddedHostOptions): EmbeddedHost {
  const { siteDomain, sealer, clock, log } = options;
  const layout = layoutOf(options.folder);
  const store = createVhostStore(layout);
  const files = createWebsiteFiles(layout);
  const { filesOf } = layout;
  const limits = options.limits ?? NO_LIMITS;
  const snapshots = createSnapshots({ folder: layout.snapshots, filesOf, limits, clock });
  const archives = createPackedArchives({ folder: layout.archives, clock });
  const quotas = createDiskQuotas({ filesOf, limits, clock });
  const proofs = createChallengeFiles({ folder: layout.proofs, clock, log });
  const serving = options.listen ? createServing() : null;
  // The read-change-write of a vhost file must not run twice at once.
  const serially = serializeByKey();
  const inventory = createEmbeddedInventory({
    layout,
    serially,
    onAside: (installId) => serving?.vhosts.refresh(installId),
  });
  let addresses: EmbeddedAddresses | null = null;

  function createServing(): {
    vhosts: LiveVhosts;
    usage: UsageLedger;
    edge: Edge;
    ssh: ReturnType<typeof createSftpGateway>;
  } {
    const vhosts = createLiveVhosts({ store, siteDomain, clock, log });
    const own = createEdgeCertificate({ file: layout.edgeCertificate, siteDomain, clock, log });
    const finder = createFileFinder({
      filesOf: layout.filesOf,
      caches: createCaches(clock, DEFAULT_CACHE_LIMITS),
      fileLimit: DEFAULT_CACHE_LIMITS.file,
      clock,
    });
    const usage = createUsageLedger({ file: layout.usage, clock, log });
    const isTrusted = options.isTrustedProxy ?? (() => false);
    const edge = createEdge({
      http: options.edgeHttp,
      https: options.edgeHttps,
      vhosts,
      files: createStaticFiles(finder),
      certificates: createServedCertificates({ vhosts, store, sealer, own, log }),
      proofs,
      own,
      objectStorage: options.objectStorage,
      connections: options.connections.edge,
      meter: createResponseMeter({
        ledger: usage,
        isTrusted,
        clock,
      }),
      visitorOf: (request) => addressOf(request, isTrusted),
      log,
      clock,
      graceMs: options.graceMs ?? GRACE_MS,
    });
    const ssh = createSftpGateway({
      listen: options.sshListen,
      hostKeyFile: layout.sshHostKey,
      filesOf,
      quotas,
      questions: options.questions,
      connections: options.connections.ssh,
      log,
      clock,
    });
    return { vhosts, usage, edge, ssh };
  }

  async function start(): Promise<void> {
    for (const folder of [options.folder, layout.installs, layout.vhosts, layout.proofs]) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
    }
    if (serving === null) return;
    try {
      await proofs.keepSwept();
      serving.usage.start();
      await serving.vhosts.start();
      const { http, https } = await serving.edge.start();
      const ssh = await serving.ssh.start();
      addresses = { edgeHttp: http, edgeHttps: https, ssh };
    } catch (error) {
      await stop();
      throw error;
    }
  }

  async function stop(): Promise<void> {
    addresses = null;
    if (serving === null) return;
    proofs.stopSweeping();
    serving.vhosts.stop();
    await Promise.all([serving.edge.stop(), serving.ssh.stop()]);
    await serving.usage.stop();
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

  /** The vhost file to write for `state`, or the revision that already matches. */
  async function planned(state: InstallState): Promise<{ file: VhostFile } | { revision: string }> {
    const present = await readUsable(state.id);
    if (present !== null && isState(present.file, state)) return { revision: present.revision };
    const generations = present?.file.generations ?? nextGenerations(null, clock.now().getTime());
    return { file: vhostFileFor(state, generations, sealer) };
  }

  async function readUsable(installId: string): Promise<{ file: VhostFile; revision: string } | null> {
    try {
      return await store.read(installId);
    } catch (err) {
      if (err instanceof PermanentHostError) throw err;
      log.warn({ err, install: installId }, 'an unusable vhost file is rewritten');
      return null;
    }
  }

  function isState(file: VhostFile, { id, name, hostnames, offload, rules }: InstallState): boolean {
    try {
      return isDeepStrictEqual(stateOf(file, sealer), { id, name, hostnames, offload, ...rulesIn(rules) });
    } catch (err) {
      log.warn({ err, install: id }, 'a sealed private key cannot be opened and is rewritten');
      return false;
    }
  }

  /** Purges caches; gives the revision of the vhost file, or null if the install has none. */
  async function purge(
    installId: string,
    next: (present: Generations, now: number) => Generations,
  ): Promise<string | null> {
    return serially(installId, async () => {
      const present = await store.read(installId);
      if (present === null) return null;
      const generations = next(present.file.generations, clock.now().getTime());
      return store.write({ ...present.file, generations });
    });
  }

  const empty = (installId: string, kinds: readonly CacheKind[]) =>
    purge(installId, (present, now) => nextGenerations(present, now, kinds));

  /** Resolves once the edge serves the revision. Null: the install has no website. */
  async function showingPurged(install: InstallRef, revision: string | null): Promise<void> {
    if (revision === null) throw new PermanentHostError(`there is no website ${install.name} on this host`);
    await showing(install, revision);
  }

  return {
    start,
    stop,
    get addresses() {
      return addresses;
    },

    async apply(state, signal) {
      signal?.throwIfAborted();
      const revision = await serially(state.id, async () => {
        const plan = await planned(state);
        await snapshots.recover(state.id);
        await files.provide(state);
        const revision = 'file' in plan ? await store.write(plan.file) : plan.revision;
        await inventory.takeBack(state.id);
        return revision;
      });
      await showing(state, revision, signal);
      return { phpVersion: null, wordpressVersion: null, stableIps: null };
    },

    retire: (install) => inventory.retire(install.id),

    async removeBackups(install) {
      if ((await store.read(install.id)) !== null) {
        throw new PermanentHostError(`the website ${install.name} exists`);
      }
      await snapshots.removeAll(install.id);
    },

    async remove(install) {
      await serially(install.id, async () => {
        await store.delete(install.id);
        await inventory.takeBack(install.id);
      });
      if (serving !== null) serving.vhosts.refresh(install.id);
      // Asking makes it refresh. An edge that does not answer serves nothing either.
      else await ask(edgeAddress(), platformName(install), { installId: install.id, revision: 'removed' });
      if (install.keepBackups !== true) await snapshots.removeAll(install.id);
      await archives.removeAll(install.id);
      await files.remove(install.id);
      quotas.forget(install.id);
    },

    purge: async (install, cache) => showingPurged(install, await empty(install.id, [cache])),

    async purgePages(install, paths) {
      // Requests for other paths are refused, so they have no page.
      const pages = paths.flatMap((path) => parseSitePath(path)?.relative ?? []);
      const revision = await purge(install.id, (present, now) => generationsAfterPurge(present, now, pages));
      await showingPurged(install, revision);
    },

    snapshot: (install, backupId, signal, report) => snapshots.snapshot(install, backupId, signal, report),

    async restore(install, backupId, { parts = ALL_PARTS, ...options } = {}) {
      requireFilesOnly(parts);
      const snapshot = await snapshots.restore(install, backupId, options);
      quotas.forget(install.id);
      const revision = await empty(install.id, CACHE_KINDS);
      if (revision !== null) await showing(install, revision);
      return snapshot;
    },

    discardSnapshot: (install, backupId) => snapshots.discard(install, backupId),

    pack: (install, { backupId, archiveId }, signal) =>
      archives.pack(
        install.id,
        archiveId,
        (write) => snapshots.unpack(install, backupId, write, signal),
        signal,
      ),
    readPacked: (install, archiveId, part) => archives.read(install.id, archiveId, part),
    discardPacked: (install, archiveId) => archives.discard(install.id, archiveId),
    // Files are what the customer uploaded.
    async replaceUrls() {},

    async measureStorage(install, signal) {
      if ((await ifThere(stat(filesOf(install.id)))) === null) {
        throw new PermanentHostError(`there is no website ${install.name} on this host`);
      }
      const { bytes } = await measureFiles(filesOf(install.id), limits, signal);
      return { fileBytes: bytes, database: null };
    },

    createLogin: async () => STATIC_ONLY,
    createDatabaseLink: async () => NO_DATABASE,
    readMail: async () => NO_MAIL,
    readWordPress: async () => ({ ...STATIC_ONLY, refused: 'website', mark: null }),
    wordpressMarks: async () => [],
    planUpdates: noWordPress,
    updateWordpress: noWordPress,
    changeItem: noWordPress,
    readLog: async () => NO_LOGS,
    importWebsite: () => Promise.reject(new RefusedImportError(STATIC_ONLY.reason)),
    lastImport: async () => null,
    runWpCli: async () => STATIC_ONLY,

    async readUsage(since) {
      if (serving === null) throw new Error('this process does not serve the websites');
      return serving.usage.read(since);
    },

    publish: (proof) => proofs.publish(proof),
    withdraw: (proof) => proofs.withdraw(proof),

    heldInstalls: inventory.heldInstalls,
    belongTo: inventory.belongTo,
    setAside: inventory.setAside,
  };
}

/** A whole restore is one of the files, because websites here have no database. */
function requireFilesOnly({ files, database }: RestoredParts): void {
  if (files && typeof database === 'string') return;
  throw new RefusedRestoreError('Websites on this host have no database. Restore their files.');
}
