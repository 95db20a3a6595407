import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { AddressRange, ListenAddress } from '../../../config/settings/setting-values.ts';
import type { Clock } from '../../../lib/clock.ts';
import { type Repetition, repeatEvery, serializeByKey } from '../../../lib/concurrency.ts';
import { MINUTE_MS } from '../../../lib/durations.ts';
import { messageOf } from '../../../lib/error-message.ts';
import { hostAndPort } from '../../../lib/host-and-port.ts';
import { parseUuid } from '../../../lib/ids.ts';
import { OperatorError } from '../../../lib/operator-error.ts';
import { runCommand } from '../../../lib/run-command.ts';
import type { S3Service } from '../../../network/object-storage/s3-address.ts';
import type {
  EdgeForwarding,
  EdgeIdentity,
  EdgeRoute,
  EdgeRouting,
  OtherEdge,
} from '../../contract/edge-routes.ts';
import type { EdgeFigures } from '../../contract/figures.ts';
import type { Proof } from '../../contract/proofs.ts';
import { createDefaultCertificate } from '../../policy/default-certificate.ts';
import { createEdgeCounts } from '../../policy/usage/edge-counts.ts';
import type { UsageLedger } from '../../policy/usage/ledger.ts';
import type { AccessLogs } from '../../websites/logs/access-logs.ts';
import type { Daemons } from '../machine/daemon.ts';
import type { LinuxLayout } from '../machine/layout.ts';
import { tryOrLog } from '../machine/try-or-log.ts';
import type { UploadMb } from './body-limits.ts';
import { createChallengeFiles } from './challenge-files.ts';
import { createConfigurationFiles } from './configuration-files.ts';
import { createEdgeControl } from './control-client.ts';
import { createEdgeCertificates } from './edge-certificates.ts';
import { createEdgeConfiguration } from './edge-configuration.ts';
import { createEdgeMembership } from './edge-membership.ts';
import { tablePaths } from './edge-options.ts';
import { probeEdge } from './edge-probe.ts';
import { createEdgeRoutes } from './edge-routes.ts';
import { createEdgeWebsites } from './edge-websites.ts';
import { makeFolders, runFiles } from './machine-options.ts';
import { createReachedEdges } from './reached-edges.ts';
import { createRunningNginx } from './running-nginx.ts';
import { createUntoldChanges } from './untold-changes.ts';
import { createUsageLogReader } from './usage-log-reader.ts';
import type { Vhost } from './vhost.ts';

/** nginx in front of all websites of this host. */
export interface WebServer {
  /**
   * Starts serving exactly these websites. One that cannot be served is logged and keeps its previous state, without affecting the
   * others. A repeated call restores everything to this state.
   */
  start(vhosts: Vhost[]): Promise<void>;
  /**
   * Serves a website in this state. Resolves once nginx does. If the state is refused, rejects with a {@link PermanentHostError}
   * that says why, and the website is served as before.
   */
  put(vhost: Vhost): Promise<void>;
  /** Stops serving it, and removes its page cache. Succeeds if it is missing. */
  remove(installId: string): Promise<void>;
  /** Empties an install's page cache at once. */
  purge(installId: string): Promise<void>;
  /** Purges the pages with these paths, or more, at once. */
  purgePages(installId: string, paths: readonly string[]): Promise<void>;
  /** Counts the requests that nginx has logged so far. */
  collectUsage(): Promise<void>;
  /** The answers to visitors that were counted so far. */
  figures(): EdgeFigures;
  publish(proof: Proof): Promise<void>;
  withdraw(proof: Pick<Proof, 'hostname' | 'path'>): Promise<void>;
  /** Removes expired proofs. This also happens regularly. */
  sweepProofs(): Promise<void>;
  /** Faults of nginx and of the files of all websites, one sentence each. */
  check(): Promise<string[]>;
  /** Difference between this state and what is served, one sentence; null if there is none. */
  checkWebsite(vhost: Vhost): Promise<string | null>;
  /** Repairs what {@link check} reports, for the websites last requested. */
  repair(): Promise<void>;
  /** Ids of the installs that are served. */
  served(): string[];
  ports(): { http: number; https: number };
  /** Joins the edges of other hosts, see `EdgeRouting`. */
  joinEdges: EdgeRouting['joinEdges'];
  setRoutes: EdgeRouting['setRoutes'];
  heldRoutes: EdgeRouting['heldRoutes'];
  /** Why this edge cannot forward requests to others, one sentence each. */
  checkOtherEdges(): Promise<string[]>;
  /** How this edge accepts requests from others; null if the host takes no part. */
  forwarding(): Promise<EdgeForwarding | null>;
  /** Ends this process's work for nginx. The daemons' supervisor ends nginx itself. */
  stop(): Promise<void>;
}

export interface WebServerOptions {
  layout: LinuxLayout;
  daemons: Daemons;
  edgeHttp: ListenAddress;
  edgeHttps: ListenAddress;
  /** For the edges of other hosts. It listens once there are others. Null: the host takes no part. */
  edgeForward: ListenAddress | null;
  /** Proxies whose `X-Forwarded-For` is trusted. */
  trustedProxies: AddressRange[];
  /** DNS servers for the names of object storage; null: the machine's. */
  resolvers: ListenAddress[] | null;
  s3: S3Service;
  log: Logger;
  clock: Clock;
  instance: string;
  /** Names of the certificate for names without one; `localhost` if left out. */
  siteDomain?: string;
  /** PEM file of root certificates for object storage; the machine's if left out. */
  storageRoots?: string;
  /** Milliseconds between checks for expired proofs and the own certificate; 30 s if left out. */
  lookEveryMs?: number;
  /** Counts the requests. Belongs to the caller, who starts and stops it. */
  usage: UsageLedger;
  accessLogs: Pick<AccessLogs, 'append'>;
  /** Called when routes were read or changed, and regularly, with the user names of their installs. */
  usersRouted?: (names: readonly string[]) => Promise<void>;
  /** Largest upload in MiB: of installs without their own limit, and of any. */
  uploadMb?: UploadMb;
  /** Milliseconds between readings of the requests; 10 s if left out. */
  readUsageEveryMs?: number;
}

const LOOK_EVERY_MS = 30_000;
const REMOVAL_MS = 10 * MINUTE_MS;

export function createWebServer(options: WebServerOptions): WebServer {
  const { layout, edgeHttp, edgeHttps, log, clock, instance, siteDomain = 'localhost' } = options;
  const files = createConfigurationFiles(layout.nginx);
  const paths = tablePaths(layout);
  const run = runFiles(layout);
  const control = createEdgeControl(run.controlSocket);
  const untold = createUntoldChanges(control);
  const certificates = createEdgeCertificates(paths.certificates, control);
  const websites = createEdgeWebsites({
    ...{ ...options, siteDomain, paths, certificates, untold },
    isRouted: (id) => routes.usesCertificate(id),
  });
  const routes = createEdgeRoutes({
    ...{ paths, untold, certificates, log },
    isServed: (id) => websites.usesCertificate(id),
  });
  const running = createRunningNginx({
    daemons: options.daemons,
    instance,
    configuration: files.paths.currentFile,
    statusSocket: run.statusSocket,
    sockets: [run.storageSocket, run.controlSocket, run.innerSocket, run.primarySocket],
    largestUploadMb: options.uploadMb?.most,
  });
  const proofs = createChallengeFiles({ folder: layout.proofs, clock });
  const own = createDefaultCertificate({
    file: files.paths.ownCertificate,
    names: [siteDomain, `*.${siteDomain}`],
    clock,
    log,
  });
  const membership = createEdgeMembership(paths, options.edgeForward);
  const configuration = createEdgeConfiguration({ ...options, files, paths, own, forwarding: membership });
  const serially = serializeByKey();
  const counts = createEdgeCounts();
  const usageLogReader = createUsageLogReader({
    folder: run.usageLogs,
    ledger: options.usage,
    counts,
    accessLogs: options.accessLogs,
    reopen: running.reopenLog,
    log,
    clock,
    ...(options.readUsageEveryMs === undefined ? {} : { everyMs: options.readUsageEveryMs }),
  });
  const reached = createReachedEdges({
    file: paths.reached,
    edges: () => routes.edges(),
    async probe(edge, signal) {
      const identity = await membership.options();
      return identity === null ? 'This edge has no identity.' : probeEdge(edge, identity, signal);
    },
    everyMs: options.lookEveryMs ?? LOOK_EVERY_MS,
    log,
  });
  let looking: Repetition | undefined;

  const usersRouted = () =>
    tryOrLog(log, 'could not let users of other hosts sign in', async () =>
      options.usersRouted?.([...routes.users()]),
    );

  /** Makes nginx serve what `write` writes. */
  async function serveAll(write: () => Promise<void>): Promise<void> {
    await makeFolders(layout, files);
    await write();
    await routes.load();
    await usersRouted();
    if (options.edgeForward === null) await membership.forget();
    await configuration.read();
    const { generation } = await configuration.apply();
    await running.ensure(generation).catch((cause: unknown) => explainListening(options.edgeForward, cause));
    await configuration.prune();
    if (options.edgeForward === null) {
      await routes.clear();
      await usersRouted();
    }
    await websites.announce();
  }

  /** Earlier versions had a configuration and a cache for each website, and keys and access logs in other folders. */
  async function removeLeftovers(): Promise<void> {
    const caches = (await readdir(layout.caches)).filter((name) => parseUuid(name) === name);
    const folders = [
      ...['vhosts', 'certificates'].map((name) => join(layout.nginx, name)),
      join(layout.folder, 'access-logs'),
      ...caches.map((name) => join(layout.caches, name)),
    ];
    // rm(1) follows no link that the web server's workers could make in a cache.
    await runCommand('/usr/bin/rm', ['-rf', '--one-file-system', '--', ...folders], {
      timeoutMs: REMOVAL_MS,
    });
  }

  /** Makes nginx run the configuration for the machine as it is now. */
  async function refresh(): Promise<void> {
    const { generation, fresh } = await configuration.apply();
    if (fresh || !(await running.shows(generation))) await running.reload(generation);
  }

  /** Without the identity again if nginx does not take it, because it would not start with it either. */
  async function accept(identity: EdgeIdentity): Promise<void> {
    const isFirst = (await membership.options()) === null;
    await membership.accept(identity);
    await refresh().catch(async (error: unknown) => {
      if (isFirst) await membership.forget();
      throw error;
    });
  }

  async function joinEdges(identity: EdgeIdentity | null, others: readonly OtherEdge[]): Promise<void> {
    if (identity !== null) await accept(identity);
    await routes.setEdges(others);
    await untold.tell();
  }

  async function setRoutes(changed: readonly EdgeRoute[]): Promise<void> {
    await routes.set(changed);
    await usersRouted();
    await untold.tell();
  }

  /** Work due with time: the edge's own certificate, proofs, and changes that did not reach nginx. */
  async function look(): Promise<void> {
    await proofs.sweep();
    await serially('nginx', async () => {
      await refresh();
      await usersRouted();
      await websites.tell();
    });
  }

  async function check(): Promise<string[]> {
    const faults: string[] = [];
    const { generation, intact } = await configuration.check();
    if (!intact) faults.push("nginx's configuration on disk was changed");
    if (!(await running.shows(generation))) faults.push('nginx runs with the wrong configuration');
    return [...faults, ...(await websites.check())];
  }

  /** If nginx does not hear of a purge, it must empty the install's cache before anything else. */
  async function purge(id: string, tell: () => Promise<void>): Promise<void> {
    await serially(id, tell).catch((error: unknown) => {
      websites.purgeLater(id);
      throw error;
    });
  }

  return {
    async start(vhosts) {
      await serially('nginx', () => serveAll(() => websites.write(vhosts)));
      await tryOrLog(log, 'could not remove the files of an earlier version', removeLeftovers);
      usageLogReader.start();
      reached.start();
      looking = repeatEvery(look, {
        delayMs: options.lookEveryMs ?? LOOK_EVERY_MS,
        onError: (err) => log.error({ err }, 'could not update the web server'),
      });
    },
    put: (vhost) => serially('nginx', () => websites.put(vhost)),
    remove: (installId) => serially('nginx', () => websites.remove(installId)),
    purge: (id) => purge(id, () => control.purge(id)),
    purgePages: (id, pages) => purge(id, () => control.purgePages(id, pages)),
    collectUsage: () => usageLogReader.collect(),
    figures: counts.figures,
    publish: (proof) => proofs.publish(proof),
    withdraw: (proof) => proofs.withdraw(proof),
    sweepProofs: () => proofs.sweep(),
    check: () => serially('nginx', check),
    checkWebsite: (vhost) => serially('nginx', () => websites.checkWebsite(vhost)),
    repair: () => serially('nginx', () => serveAll(websites.rewrite)),
    served: () => websites.served(),
    ports: () => ({ http: edgeHttp.port, https: edgeHttps.port }),
    joinEdges: (identity, others) => serially('nginx', () => joinEdges(identity, others)),
    setRoutes: (changed) => serially('nginx', () => setRoutes(changed)),
    heldRoutes: (after) => serially('nginx', async () => routes.held(after)),
    async checkOtherEdges() {
      const own = await membership.options();
      if (own === null) return [];
      const faults = await Promise.all((await routes.edges()).map((edge) => probeEdge(edge, own)));
      return faults.filter((fault) => fault !== null);
    },
    async forwarding() {
      const described = await membership.describe();
      return described && { ...described, reaches: await reached.ids() };
    },
    async stop() {
      await reached.stop();
      await looking?.stop();
      await usageLogReader.stop();
      await serially('nginx', () => Promise.resolve());
    },
  };
}

/** Names the setting if nginx cannot listen on an address. */
function explainListening(edgeForward: ListenAddress | null, cause: unknown): never {
  const text = messageOf(cause);
  const place = /bind\(\) to (\S+) failed \(\d+: ([^)]*)\)/.exec(text);
  if (place === null) throw cause;
  if (edgeForward !== null && place[1] === hostAndPort(edgeForward)) {
    throw new OperatorError(
      `Cannot accept requests of other hosts on ${place[1]}: ${place[2]} (setting HOMEPORT_EDGE_FORWARD).`,
      { cause },
    );
  }
  throw new OperatorError(
    `Cannot serve the hosted sites on ${place[1]}: ${place[2]} (settings HOMEPORT_EDGE_HTTP and HOMEPORT_EDGE_HTTPS).`,
    { cause },
  );
}
